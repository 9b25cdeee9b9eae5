"""Patterns of credentials: tokens with a known prefix, and contexts in which a word is a credential.

The kinds follow the rule lists of gitleaks and detect-secrets and the formats that providers document. Every
repetition is bounded or cannot overlap with what follows it, so that matching is linear in the text.
"""

from __future__ import annotations

import re

from onrecord.coldstart import NamedTuple

PASSWORD, LOGIN, HEADER = "a password", "a login", "an authorization header"
USER = "a user's password"
KEY, PRIVATE_KEY, SESSION = "a key or token", "a private key", "a session"
_ID = "[A-Za-z0-9_-]"
_WORDS = r"(?:\s[^\n]{0,120}?)??"


class Rule(NamedTuple):
    """A kind of credential, and its pattern; the last group, if any, is the credential itself."""

    kind: str
    hints: str
    """The pattern is tried only on texts that contain one of these, in lower case and separated by bars."""
    pattern: str


TOKENS = (
    Rule(
        PRIVATE_KEY,
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*-----|\Z)",
    ),
    Rule(PRIVATE_KEY, "putty-user-key-file", r"PuTTY-User-Key-File-\d(?s:.*)"),
    Rule(PRIVATE_KEY, "age-secret-key-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Rule(PRIVATE_KEY, '"d"', rf'"d"\s*:\s*"({_ID}{{40,}})"'),
    Rule("a JSON web token", "eyj", rf"(?<!{_ID})eyJ{_ID}{{8,}}\.eyJ{_ID}{{8,}}\.{_ID}{{8,}}"),
    Rule("an AWS access key", "akia|asia|abia|acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Rule(
        "an AWS secret key",
        "secret",
        r"(?i)(?:aws.{0,20}secret|secret.?access.?key).{0,20}['\"=:\s]([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    Rule(
        "a GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        rf"\b(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_{_ID}{{50,255}})\b",
    ),
    Rule(
        "a GitLab token",
        "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-|gloas-|glimt-|glffct-",
        rf"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-{_ID}{{20,}}",
    ),
    Rule("a Slack token", "xox|xapp-", r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
    Rule(
        "a Slack webhook",
        "hooks.slack.com",
        r"(?i)hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9/]{16,}",
    ),
    Rule("a webhook", "/webhooks/", rf"discord(?:app)?\.com/api/webhooks/\d+/{_ID}{{50,}}"),
    Rule("a webhook", "webhookb2/", r"\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,}"),
    Rule("a Stripe key", "k_live_|k_test_", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    Rule("a Google API key", "aiza", rf"\bAIza{_ID}{{35}}"),
    Rule("a Google OAuth secret", "gocspx-", rf"\bGOCSPX-{_ID}{{20,}}"),
    Rule("a Google access token", "ya29.|1//0", rf"\bya29\.{_ID}{{20,}}|\b1//0{_ID}{{30,}}"),
    Rule("an Anthropic key", "sk-ant-", rf"\bsk-ant-{_ID}{{20,}}"),
    Rule("an OpenAI key", "sk-", rf"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?{_ID}{{32,}}"),
    Rule("a Hugging Face token", "hf_", r"\bhf_(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{30,}"),
    Rule("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    Rule("a PyPI token", "pypi-age", rf"\bpypi-AgE{_ID}{{50,}}"),
    Rule("a SendGrid key", "sg.", rf"\bSG\.{_ID}{{16,}}\.{_ID}{{32,}}"),
    Rule("a Twilio key", "sk", r"\bSK[0-9a-f]{32}\b"),
    Rule("a DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    Rule("a Databricks token", "dapi", r"\bdapi[0-9a-f]{32}\b"),
    Rule("a Telegram bot token", ":aa", rf"\b\d{{8,10}}:AA{_ID}{{33}}(?!{_ID})"),
    Rule("a Discord bot token", "bot", rf"\b[MNO]{_ID}{{22,27}}\.{_ID}{{6}}\.{_ID}{{27,40}}(?!{_ID})"),
    Rule("an Azure key", "accountkey=|sharedaccesskey=", r"(?i)(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}={0,2})"),
    Rule("an Azure client secret", "q~", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    Rule(
        "a signed URL",
        "sig=|code=|signature=",
        r"(?i)[?&](?:sig|code|X-Amz-Signature)=([A-Za-z0-9%+/_-]{30,}={0,2})",
    ),
    Rule("a Vault token", "hvs.|hvb.|hvr.", rf"\bhv[sbr]\.{_ID}{{20,}}"),
    Rule("a Vault token", "vault login", r"(?i)vault login\s+([sb]\.[A-Za-z0-9]{20,})"),
    Rule("a password hash", "$", r"\$(?:2[abxy]?|apr1|[156]|argon2(?:id|i|d))\$[A-Za-z0-9./=,$+-]{20,}"),
    # Grafana, Sentry, Linear, Notion, Shopify, Docker, RubyGems, PlanetScale, Supabase, Netlify, Figma, Replicate,
    # Groq, Pinecone, Prefect, Typeform, xAI, Perplexity, Pulumi, Postman, New Relic, Heroku, Mailgun, Sourcegraph,
    # Stripe's webhooks, 1Password.
    Rule(
        "an access token",
        "glsa_|glc_|sntry|lin_api_|ntn_|shpat_|shpss_|shpca_|shppa_|dckr_pat_|rubygems_|pscale_|sbp_|nfp_|figd_|r8_|gsk_|pcsk_"
        "|pnu_|tfp_|xai-|pplx-|pul-|pmak-|nrak-|nrjs-|hrku-|key-|sgp_|whsec_|ops_eyj",
        rf"(?<!{_ID})(?:glsa_|glc_|sntry[su]_|lin_api_|ntn_|shp(?:at|ss|ca|pa)_|dckr_pat_|rubygems_|pscale_(?:pw|tkn|oauth)_"
        r"|sbp_|nfp_|figd_|r8_|gsk_|pcsk_|pnu_|tfp_|xai-|pplx-|pul-|PMAK-|NRAK-|NRJS-|HRKU-|key-(?=[0-9a-f]{32})|sgp_|whsec_|ops_eyJ)"
        r"[A-Za-z0-9_+/=-]{20,}",
    ),
    Rule("an access token", "cio|lsv2_", r"\b(?:cio[A-Za-z0-9]{32}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})\b"),
    # Doppler, Dynatrace, Airtable, Mapbox, Terraform.
    Rule(
        "an access token",
        "dp.pt.|dp.st.|dp.ct.|dp.sa.|dt0|pat|sk.eyj|.atlasv1.",
        rf"(?<![\w.-])(?:dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{{40,}}|dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{60,}}"
        rf"|pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}|sk\.eyJ{_ID}{{20,}}\.{_ID}{{20,}}|[A-Za-z0-9]{{14}}\.atlasv1\.{_ID}{{60,}})",
    ),
    # Atlassian, Bitbucket, EasyPost, NuGet, Artifactory, Square, Facebook, Fly, Alibaba, Firebase.
    Rule(
        "an access token",
        "atatt3x|atbb|ezak|eztk|oy2|akcp|eaaa|eaac|eaam|flyv1|ltai|:apa91b",
        r"(?<![\w.-])(?:ATATT3x[A-Za-z0-9_=-]{100,}|ATBB[A-Za-z0-9]{32}|EZ[AT]K[A-Za-z0-9]{54}|oy2[a-z0-9]{43}"
        rf"|AKCp[A-Za-z0-9]{{60,}}|EAAA{_ID}{{56,}}|EAA[CM][A-Za-z0-9]{{80,}}"
        rf"|FlyV1 fm\d_[A-Za-z0-9+/=_,-]{{40,}}|LTAI[A-Za-z0-9]{{12,20}}|AAAA{_ID}{{7}}:APA91b{_ID}{{100,}})(?!\w)",
    ),
)

CONTEXTS = (
    Rule(
        "a URL with a password",
        "://",
        # After the colon there may be a port instead.
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@'\"<>]{0,100}:(?!\d{1,5}(?:[/?#]|$))([^\s'\"<>]{3,200})@(?=[\w\[$.{-])",
    ),
    Rule(PASSWORD, "//", r"(?<![:/\w])//[\w.-]{1,60}:([^\s'\"<>/@]{3,200})@(?=[\w\[])"),
    Rule("a URL with a password", "jdbc:oracle", r"(?i)jdbc:oracle:\w{1,10}:[\w.]{1,40}/([^\s@/]{4,100})@"),
    Rule(
        HEADER,
        "authorization",
        r"(?i)authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:(?:basic|bearer|token|ssws|apikey)\s)?(?:token=)?"
        r"([A-Za-z0-9._~+/=-]{12,})",
    ),
    Rule(HEADER, "bearer", r"(?i)\bbearer\s([A-Za-z0-9._~+/=-]{16,})"),
    Rule(HEADER, "basic", r"(?i)\bbasic\s([A-Za-z0-9+/]{16,}={0,2})(?!\w)"),
    # A token in place of the user's name. What Sentry's addresses have there is public.
    Rule(HEADER, "://", rf"(?i)\b(?:git\+)?https?://({_ID}{{20,}})@(?![\w.-]{{0,60}}sentry)"),
    Rule(HEADER, "key=", r"(?i)[?&]key=([\w-]{24,})"),
    *(
        Rule(PASSWORD, hints, rf"(?i:{context})['\"]?([^\s'\"]{{4,200}})")
        for hints, context in (
            (
                "curl|wget|http",
                r"\s(?:(?-i:-u|-a)[ =]{0,3}|--(?:(?:proxy-)?user|auth)[ =]{1,3})['\"]?[\w.@\\-]{0,60}['\"]?:",
            ),
            # Options that mean a password to these programs only: to others, -p is a port or a project.
            ("login", rf"\blogin\b{_WORDS}\s(?-i:-p)[ =]?"),
            ("sshpass", r"\bsshpass\s{1,3}(?-i:-p)\s?"),
            ("mysql|maria", rf"\b(?:mysql|maria)\w{{0,10}}{_WORDS}\s(?-i:-p)"),
            ("mongo|twine|rdesktop", rf"\b(?:mongo\w{{0,10}}|twine|rdesktop){_WORDS}\s(?-i:-p)[ =]"),
            ("7z", rf"\b7z\w{{0,2}}{_WORDS}\s(?-i:-p)"),
            ("sqlcmd|bcp|isql|zip|ipmi", rf"\b(?:sqlcmd|bcp|isql|(?:un)?zip|ipmitool){_WORDS}\s(?-i:-P)[ =]?"),
            ("snmp", rf"\bsnmp\w{{1,12}}{_WORDS}\s(?-i:-[AX])\s?"),
            ("ssh-keygen", rf"\bssh-keygen{_WORDS}\s(?-i:-N)\s?"),
            ("wpa_passphrase", r"\bwpa_passphrase\s\S{1,60}\s"),
            ("redis-cli", rf"\bredis-cli{_WORDS}\s(?-i:-a)[ =]"),
            ("openssl", rf"\bopenssl{_WORDS}\s(?-i:-k)\s"),
            ("ldap", rf"\bldap\w{{1,12}}{_WORDS}\s(?-i:-w)\s?"),
            ("lftp", rf"\blftp{_WORDS}\s(?-i:-u)\s?[\w.@-]{{1,60}},"),
            ("freerdp", rf"\bw?x?freerdp{_WORDS}\s/p:"),
            ("pass", r"\s--?(?:src|dest)?(?:store|key)pass[ =:]"),
            ("requirepass|masterauth", r"\b(?:requirepass|masterauth)\s"),
            ("identified by", r"\bidentified by\s"),
            ("smbclient", rf"\bsmbclient{_WORDS}\s-U\s?[\w\\.-]{{1,60}}%"),
            ("htpasswd", r"\bhtpasswd\s-\w{0,5}b\w{0,5}\s\S{1,80}\s\S{1,60}\s"),
            ("net use", r"\bnet use\s[^\n]{0,120}?/user:\S{1,60}\s|\bnet user?\s(?:\w:\s)?[^\s/]{1,80}\s(?!/)"),
            ("rabbitmqctl", r"\brabbitmqctl\s(?:-\S{1,40}\s){0,4}(?:add_user|change_password)\s\S{1,60}\s"),
        )
    ),
    # Text that is passed to a program which reads a password.
    Rule(
        PASSWORD,
        "echo|printf",
        r"\b(?:echo|printf)\s(?:-n\s)?['\"]?(?:[\w.-]{1,40}:)?([^\s'\"|]{4,200})['\"]?\s?\|\s?"
        r"(?=[^\n|]{0,80}?(?:--password-stdin|sudo\s-S|passwd\b))",
    ),
    Rule(PASSWORD, "<<<", r"\b(?:kinit|sudo|passwd|login|cryptsetup)\b[^\n<]{0,80}<<<\s?['\"]?([^\s'\"]{4,200})"),
    Rule(PASSWORD, "sqlplus", r"\bsqlplus\s(?:-\w{1,10}\s){0,3}[\w.]{1,40}/([^\s@/]{4,100})@"),
    # A line of .pgpass.
    Rule(PASSWORD, ":", r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:(\S{4,100})$"),
    Rule(
        LOGIN,
        "login|log-in|account|credential|creds",
        r"(?i)\b(?:log-?in|account|credentials?|creds)\b[^\n:/]{0,30}[:\s]\s?[\w.@+-]{2,60}\s?[/:]\s?([^\s/][^\s]{5,100})",
    ),
    Rule(
        LOGIN,
        "log in|login|log-in|log on|sign in|sign-in|sign on",
        r"(?i)\b(?:log|sign)[ -]?(?:in|on)\s(?:with|as|using)\s[\w.@+-]{2,60}\s?(?:and|/|with|,)\s?"
        r"([^\s/][^\s]{5,100})",
    ),
    Rule(
        USER,
        "admin|root|user|auth|login|logon",
        r"(?i)\b(?:admin\w{0,12}|root|user(?:name)?|auth|login|logon)\b(?:[^\n:/]{0,20}[:\s])?\s?[\w.@+-]{2,60}"
        r"(?:\s?[/:]\s?|\s(?:with\s|and\s)?)([^\s/]\S{8,100})",
    ),
    # A sentence about one has small words in it.
    Rule(
        "a passphrase",
        "passphrase",
        r"(?i)passphrase\b[^\n\"'`]{0,60}?(?:\sis|\swas|:|=)\s?[\"'`]"
        r"(?![^\"'`]*\b(?:the|that|and|with|from|your?|this|are|has|who|nobody|not|see|ask|for)\b)"
        r"((?:[a-z]{3,12}[ -]){3,9}[a-z]{3,12})[\"'`]",
    ),
    Rule(
        "a seed phrase",
        "mnemonic|phrase",
        r"(?i)\b(?:mnemonic|seed phrase|recovery phrase)\b[^\n]{0,20}?((?:[a-z]{3,8} ){11}[a-z]{3,8})",
    ),
)

# Names of secrets, also inside a longer name: DB_PASSWORD, clientSecret, secret_key_base. Not the length of a password,
# the name of a secret, or a tokenizer.
NAME = re.compile(
    r"(?i)(?:(?P<password>(?<![a-z])(?:pass(?:wort|phrase|in|out)?|pwd|pw|kennwort|contrase[ñn]a|mot de passe|senha"
    r"|wachtwoord|hasło|lösenord)(?![a-z])|password|passwd|парол[ья]|密码|密碼|パスワード|비밀번호)"
    r"|(?P<key>secret|(?<!csrf.)(?<!xsrf.)(?<!public)(?<!public.)token|_pat(?![a-z])|(?<![a-z])auth(?![a-z])|client-key-data"
    r"|(?:api|app|access|auth|private|secret|signing|encryption|master|admin|account|license|role|deploy)[ _-]?key)"
    r"|(?P<session>session(?:[_.-]?id)?|sessid|\.sid|(?<![a-z])sid(?==)|remember_token))"
    r"(?![_.-]?(?:iz|name|type|url|uri|file|path|len|limit|count|size|polic|field|expir|ttl|usage|scope|alg|vers|audience"
    r"|issuer|variable))"
)

# In lower case: a text without any of these has no match of NAME, except that of a session.
NAME_HINTS = (
    "pass", "pwd", "pw", "kennwort", "contrase", "senha", "wachtwoord", "hasło", "lösenord", "парол", "密码", "密碼",
    "パスワード", "비밀번호", "secret", "token", "_pat", "auth", "key", "remember_token",
)  # fmt: skip

# The text between "password" and a word that the sentence calls one: nothing, or what the password is for, and a form
# of "to be".
SAYS = re.compile(
    r"(?i)(?:\s(?:for|of|on|in|at|für|der|des|de|del|du|pour)\s[^\n.;:!?]{1,60}?)?"
    r"(?:\s(?:is|was|ist|war|est|es)(?:\snow)?|\s(?:\w+\s){0,2}(?:re)?set\sto|\s(?:\w+\s){0,2}changed\sto)\s"
)
SETS = re.compile(r"(?i)\b(?:re)?set\b[^\n.;:!?]{0,40}$")
# A word and some digits, as people make passwords up.
MADE_UP = re.compile(r"[A-Za-z]{3,}\d{2,}[!?]?$")

# Text in place of a credential: a placeholder, a reference, a well-known default of a local service.
PLACEHOLDER = re.compile(
    r"(?i)(?:.{0,3}|(.)\1*|[x*.•…#-]+|<.*>.*|\{.*\}|@microsoft.*|\[.*"
    # References: $NAME, ${NAME}, $(command), $1, $request->password, %NAME%, %s, %(name)s, !Ref. A password may begin
    # with the same sign.
    r"|\$(?:[({].*|\d|\$|[a-z_]+(?:\d{1,2}_[a-z_]*)*\d{0,2}(?:[$\[.:/}\s\"'>,;)-].*)?)"
    r"|%(?:[a-z_]\w*%(?!\w)|\(\w+\)|[a-z]$).*|!{1,2}[a-z_:/]+|(?:[a-z]+_)+password|password(?:_[a-z]+)+"
    r"|.*(?:example|placeholder|change.?me|redacted|dummy|your[_-]|\{\{|\$\{|…|(.)\2{9,}).*"
    r"|(?:arn|op|ssm|vault|env|file|https?|sha\d+|md5|kv|ref\+\w+):.*|(?:/|\./|~/|projects/).*|(?:sha\d{1,3}|md5)[-=].*"
    r"|pass(?:word|wd)?\d{0,4}|pwd|secret\d{0,4}|token|user|test[\w/]*|admin\d{0,4}|root|guest|postgres|mysql|redis"
    r"|minio\w*|rabbitmq|mongo|local\w*|dev\w*|demo\w*|foo\w*|sa|null|none|true|false|undefined|string|str|number|qwerty\w*"
    r"|abc123|letmein|hunter2?|123456\d*)$"
)
# One character ten times in a row is a placeholder, as in hvs.xxxxxxxxxx.
DUMMY = re.compile(r"(?i)example|placeholder|change.?me|redacted|dummy|your[_-]|(.)\1{9,}")
# A call, an index, an attribute; the name of a variable; the name of an algorithm.
CODE = re.compile(
    r"[A-Za-z_]+\d?[(\[]|[A-Za-z_]+(?:\.\w+)+[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
    r"|(?i:sha|md5|argon|bcrypt|scrypt|pbkdf|base|aes|rsa|ecdsa|ed25519|hs|rs|es|ps|oauth|utf|iso|tls|http|ipv)-?\d"
)
# Words joined by hyphens and the like, with numbers as in versions: legacy-billing-app-v2, 2026-03-01.
WORDS = re.compile(
    r"(?:[A-Za-z]+|v?\d{1,4}[a-z]{0,3})(?:[-_./:+](?:[A-Za-z]{2,}|v?\d{1,3}(?:min|[a-z])?|[A-Z])(?![A-Za-z0-9]))*$"
)
ADDRESS = re.compile(r"[\w.+-]+@(?:[\w-]+\.[\w.-]+|v?\d[\w.]*)$")
RANDOM = re.compile(r"(?!(?i:sha\d{1,3}|md5)[-:=])[A-Za-z0-9+/=_.~%:-]+$")
