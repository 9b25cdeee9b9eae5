"""Made-up credentials in the forms people paste, and harmless texts as teams write them about credentials.

Nothing here is or was a key. Bodies are drawn at run time from a seeded generator and prefixes are put together from
parts, so that no scanner takes this file for a leak. Each corpus is split in two halves by the hash of a text's name:
the rules were written with only the first half in view; those for weak passwords in sentences, with all of them.
"""

from __future__ import annotations

import hashlib
import random
import string
from base64 import b64encode
from collections.abc import Iterator
from typing import NamedTuple

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


class Text(NamedTuple):
    """One text of a corpus."""

    name: str
    text: str

    @property
    def is_seen(self) -> bool:
        """Whether it belongs to the half that the rules were written with."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 0


class Maker:
    """Draws what a credential is made of; the same for the same name."""

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)

    def draw(self, length: int, alphabet: str = ALNUM) -> str:
        """Return random characters, with a digit and a letter among them wherever the alphabet has both."""
        body = [self._random.choice(alphabet) for _ in range(length)]
        for at, kind in enumerate((string.digits, string.ascii_letters)):
            usable = [char for char in kind if char in alphabet]
            if usable and length > 4:
                body[1 + 2 * at] = self._random.choice(usable)
        return "".join(body)

    def password(self, symbols: str = "!-#*+") -> str:
        """Return a password as a person or a generator makes one: words, capitals, digits, a sign."""
        word = "".join(self._random.choice(string.ascii_lowercase) for _ in range(6)).capitalize()
        return word + self._random.choice(symbols) + self.draw(6) + str(self._random.randrange(10, 99))

    def weak(self) -> str:
        """Return a password as people make one up who must use a digit: a word, maybe a capital, some digits."""
        word = "".join(self._random.choice(string.ascii_lowercase) for _ in range(self._random.randrange(5, 10)))
        return self._random.choice((word, word.capitalize())) + str(self._random.randrange(10, 2030))

    def words(self, count: int) -> str:
        pool = "copper lantern orbit maple glacier window pepper saddle violet anchor timber rocket".split()
        return " ".join(self._random.sample(pool, count))

    def uuid(self) -> str:
        return "-".join(self.draw(length, HEX) for length in (8, 4, 4, 4, 12))

    def base64(self, length: int) -> str:
        return b64encode(self.draw(length).encode()).decode()


def halves(corpus: list[Text]) -> tuple[list[Text], list[Text]]:
    """Return the half that was looked at, and the other."""
    return [text for text in corpus if text.is_seen], [text for text in corpus if not text.is_seen]


def harmless() -> list[Text]:
    """Return what teams write about credentials without giving one away, and what only looks like one."""
    return [Text(name, text) for name, text in _harmless(Maker("harmless")).items()]


def _harmless(make: Maker) -> dict[str, str]:
    hex40, hex64, hex32 = make.draw(40, HEX), make.draw(64, HEX), make.draw(32, HEX)
    return {
        # Where it is kept.
        "arn": "secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf'",
        "vault path": "Secrets live in Vault under secret/data/payments/stripe; the app reads them at boot.",
        "1password": "Client secret: see 1Password, vault Platform, item payments-sandbox",
        "op reference": 'password: "op://Platform/payments-db/password"',
        "ssm": "DB_PASSWORD comes from ssm:/prod/payments/db-password at deploy time.",
        "gcp secret": "api_key: projects/1234567890/secrets/maps-api-key/versions/latest",
        "key vault": "AZURE_CLIENT_SECRET comes from Key Vault; rotate it with az ad app credential reset.",
        "key vault reference": "password=@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/db/)",
        "sealed secret": "The token is in the sealed secret ci/deploy-token, key GITHUB_TOKEN.",
        "k8s ref": "env: DB_PASSWORD valueFrom: secretKeyRef: name: db-credentials, key: password",
        "file": "Private keys are kept in /etc/ssl/private/server.key, owned by root, mode 0600.",
        "file setting": "password_file: /run/secrets/db_password",
        "slack stored": "The Slack webhook URL is stored in 1Password, item 'Slack alerts'; never commit it.",
        "german": "Das Passwort liegt im Vault unter kv/prod/db, nicht im Repository.",
        "bitwarden": "The root password for the NAS is in Bitwarden (collection Infra), ask Dana for access.",
        # Where it comes from in code and configuration.
        "env variable": "export API_KEY=$API_KEY before running the smoke tests",
        "braces": "DB_PASSWORD=${DB_PASSWORD:?set it in .env}",
        "compose env": "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}",
        "url env": "REDIS_URL=redis://:${REDIS_PASSWORD}@redis:6379/0",
        "environ": 'password = os.environ["DB_PASSWORD"]',
        "getenv": "api_key=os.getenv('OPENAI_API_KEY')",
        "process env": "apiKey: process.env.STRIPE_SECRET_KEY",
        "settings": "secret = settings.SECRET_KEY",
        "getpass": "password = getpass.getpass('Database password: ')",
        "generated": "token = secrets.token_urlsafe(32)",
        "header read": "auth_token = request.headers.get('X-Auth-Token')",
        "terraform": "db_password is marked sensitive = true and comes from TF_VAR_db_password.",
        "terraform random": "password = random_password.db.result",
        "actions": "token: ${{ secrets.GITHUB_TOKEN }}",
        "jinja": 'password: "{{ lookup("env", "DB_PASSWORD") }}"',
        "helm": "password: {{ .Values.postgresql.auth.password | quote }}",
        "npmrc": "//npm.example.internal/:_authToken=${NPM_TOKEN}",
        "curl env": "curl -H 'Authorization: Bearer $TOKEN' https://api.example.com/v1/users",
        "kubectl": "kubectl create secret generic db --from-literal=password=$(pwgen 32 1)",
        "windows env": "sqlcmd -U sa -P %SA_PASSWORD% -i schema.sql",
        "github api": "Only CI may call with Authorization: token $GITHUB_TOKEN.",
        # Placeholders and published examples.
        "angle": "Server=db;Database=app;User Id=app;Password=<password>;",
        "changeme": "password: changeme   # replaced by the installer",
        "x": "token: xxxxxxxxxxxxxxxxxxxx",
        "stars": "The log shows password: '********' since 2.3.",
        "your": 'api_key="your-api-key-here"',
        "aws example": "aws_access_key_id = AKIAIOSFODNN7" + "EXAMPLE is the key from the AWS documentation.",
        "aws example secret": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "bearer placeholder": "Send Authorization: Bearer <token> with every request.",
        "sentry example": "SENTRY_DSN=https://examplePublicKey@o0.ingest.sentry.io/0",
        "prefixes": "Keys start with sk_live_ in production and sk_test_ in test; refuse sk_live_ outside production.",
        "ellipsis": "The header is X-Api-Key: sk-… (see the wiki).",
        "redacted": "password=[REDACTED] in every log line",
        # Local defaults that everybody knows.
        "compose postgres": "In docker-compose the local database has user='postgres' and password='postgres'.",
        "docker run": "docker run -e POSTGRES_PASSWORD=postgres -p 5432:5432 postgres:16",
        "url of the test database": "Tests use postgresql://postgres:postgres@localhost:5432/test",
        "jdbc test": "jdbc:postgresql://localhost:5432/test?user=test&password=test",
        "minio": "MinIO runs locally with MINIO_ROOT_PASSWORD=minioadmin",
        "guest": "RabbitMQ in CI: amqp://guest:guest@rabbitmq:5672/",
        "fixtures": "Seed users all have the password 'password' in development.",
        "admin admin": "Locally log in with admin / admin; production uses SSO only.",
        # Rules and decisions.
        "policy": "The password must be at least 12 characters and is checked against the breached list.",
        "policy short": "password policy: 14+ characters, no forced rotation",
        "hashing": "We hash passwords with argon2id (m=64MB, t=3, p=4); bcrypt cost 12 for old rows.",
        "password is hashed": "The password is argon2id-hashed before it reaches the queue.",
        "token is base64": "The token is base64-encoded twice because the gateway decodes it once.",
        "secret is hs256": "The JWT secret is HS256-only; RS256-signed tokens come from the new issuer.",
        "expiry": "Token expiry: 15min for access tokens, 30d for refresh tokens.",
        "rotation": "The password is rotated by Vault every 24h; services reconnect within 60s.",
        "never log": "Never log the Authorization header, the session cookie or the API key.",
        "reset": "Password reset tokens are single-use and expire after 20 minutes.",
        "secret name": "The repository secret is called DEPLOY_TOKEN_2; the old one, DEPLOY_TOKEN, is gone.",
        "basic auth": "Basic authentication is only used between nginx and the legacy-billing-app-v2.",
        "bearer word": "Bearer tokens-as-cookies were rejected: CSRF-protection-v2 would be needed.",
        "api key field": "The `api_key` column is varchar(64) and unique; `token` is text.",
        "types": 'access_token: string, expires_in: number, "password": {"type": "string", "minLength": 12}',
        "zod": "password: z.string().min(12).max(128)",
        "pydantic": "password: SecretStr = Field(min_length=12)",
        "write only": "The field `password` is write-only in the API; responses never include it.",
        "cookie flags": "Set-Cookie: session=<opaque>; HttpOnly; Secure; SameSite=Lax",
        "pwd folder": "The job runs with pwd=/srv/app/releases/2026-03-01 and umask 027",
        "cache key": "cache key: sessions:{user_id}:v3, TTL 24h",
        "idempotency": f"Idempotency-Key: {make.uuid()} is stored with the request",
        "secret sharing": "Secret sharing uses Shamir with 3-of-5 shares; token: see the ceremony notes.",
        "login route": "login: POST /api/v2/sessions, then follow the redirect to /app/home-v2",
        "password manager": "Credentials are handed over by 1Password: share-item links valid for 24h.",
        # Sentences about passwords with words that have digits.
        "hashed with": "The password is hashed with argon2id before it reaches db01.",
        "k8s managed": "The admin password is k8s-managed and rotates every 30d.",
        "e2e": "Every password is e2e-encrypted; the token to decrypt is derived per device.",
        "stored in s3": "The password was moved to s3-backed storage in 2024Q3.",
        "moved to vault2": "We moved the root password to vault2 and the replica's to vault1.",
        "password length": "The minimum password length is 12chars, and passwords are checked against a list of 10k.",
        "password policy": "Our password policy is v3 since 2025; rotation is 90d.",
        "password of node": "The password of node01 is kept in the safe, that of node02 is in the vault.",
        "reset to default": "The password is reset to whatever ENV2 says when the container starts.",
        "auth uses": "Password auth is http2 only; pass: build1234 is green on main2.",
        "pass rate": "The pass rate was 98pct in week12, and is 99pct now.",
        "passphrase stored": 'The passphrase is "stored in the vault" according to the runbook.',
        "passphrase where": "The passphrase of the key is in the safe of the office in Hamburg.",
        "passphrase rules": 'passphrase: "at least four words that nobody would guess"',
        "log in with": "Log in with your account and SSO; sign in as the service user and run make db2.",
        "password is same": "The staging password is same-as-prod2 by policy no more.",
        # What only looks like one.
        "commit": f"Introduced in {hex40}, reverted two days later.",
        "image digest": f"Pinned: python@sha256:{hex64}",
        "md5": f"md5 of the fixture: {hex32}",
        "uuid": f"request id {make.uuid()} timed out after 30s",
        "trace": f"trace {hex32}, span {make.draw(16, HEX)}",
        "integrity": f"integrity: sha512-{make.base64(64)}",
        "pip hash": f"--hash=sha256:{hex64}",
        "data url": f"logo: data:image/png;base64,iVBORw0KGgo{make.draw(200, BASE64)}",
        "public key": f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{make.draw(43, BASE64)} deploy@ci",
        "certificate": f"-----BEGIN CERTIFICATE-----\nMIID{make.draw(60, BASE64)}\n-----END CERTIFICATE-----",
        "public pem": f"-----BEGIN PUBLIC KEY-----\nMIIB{make.draw(60, BASE64)}\n-----END PUBLIC KEY-----",
        "git remote": "git@github.com:acme/payments-api.git",
        "user url": "https://dana@bitbucket.org/acme/payments.git",
        "scoped package": "http://localhost:4873/@acme/design-system/-/design-system-4.2.1.tgz",
        "test card": "Stripe test card 4242 4242 4242 4242, any CVC, any future date",
        "account id": "AWS account 123456789012, role arn:aws:iam::123456789012:role/deploy",
        "twilio sid": f"Twilio account AC{make.draw(32, HEX)} (the SID is public)",
        "publishable": f"Stripe publishable key pk_test_{make.draw(24)} is in the page source anyway",
    }


def secrets(seed: int = 0) -> list[Text]:
    """Return credentials as people paste them into notes, configurations and commands; each seed gives others."""
    forms = (_cloud, _code_hosts, _services, _models, _keys, _databases, _commands, _files, _assignments)
    return [Text(name, text) for family in (*forms, _prose, _weak) for name, text in family(seed)]


def _cloud(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"cloud {seed}")
    yield "aws access key", "AK" + "IA" + make.draw(16, UPPER) + " belongs to the deploy user"
    yield "aws temporary key", "aws_access_key_id = AS" + "IA" + make.draw(16, UPPER)
    yield "aws secret ini", "aws_secret_access_key = " + make.draw(40, BASE64)
    yield "aws secret env", "export AWS_SECRET_ACCESS_KEY=" + make.draw(40, BASE64)
    yield "aws secret json", f'{{"secretAccessKey": "{make.draw(40, BASE64)}"}}'
    yield "aws secret prose", f"the secret access key is {make.draw(40, BASE64)}, region eu-west-1"
    yield "aws session ini", f"aws_session_token = FwoGZXIvYXdzE{make.draw(180, BASE64)}"
    yield "aws session env", f"AWS_SESSION_TOKEN=IQoJb3JpZ2luX2Vj{make.draw(200, BASE64)}=="
    yield (
        "aws presigned",
        f"https://b.s3.amazonaws.com/x?X-Amz-Signature={make.draw(64, HEX)}&X-Amz-Security-Token={make.draw(120)}",
    )
    yield "google api key", "maps key " + "AI" + "za" + make.draw(35, URL_SAFE)
    yield "google oauth access", "ya" + "29." + make.draw(120, URL_SAFE)
    yield (
        "google oauth curl",
        'curl -H "Authorization: Bearer ya' + f'29.{make.draw(90, URL_SAFE)}" https://www.example.com',
    )
    yield "google oauth refresh", "refresh_token: 1/" + "/0" + make.draw(60, URL_SAFE)
    yield "google client secret", "GOC" + "SPX-" + make.draw(28, URL_SAFE)
    yield "gcp private key", '"private_key": "-----BEGIN PRIV' + f'ATE KEY-----\\n{make.draw(64, BASE64)}\\n"'
    yield "gcp key id", f'{{"type": "service_account", "private_key_id": "{make.draw(40, HEX)}"}}'
    yield "azure ad secret", make.draw(3) + "8Q" + "~" + make.draw(34, ALNUM + "_-~.")
    yield "azure ad assigned", f"AZURE_CLIENT_SECRET={make.draw(3)}7Q~{make.draw(34)}"
    yield "azure ad old", f"client_secret: {make.draw(12)}[@{make.draw(10)}=.{make.draw(8)}"
    yield "azure storage", f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={make.draw(86, BASE64)}=="
    yield "azure cosmos", f"AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey={make.draw(86, BASE64)}==;"
    yield (
        "azure service bus",
        (
            "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey="
            f"{make.draw(43, BASE64)}="
        ),
    )
    yield (
        "azure sas",
        (
            "https://acme.blob.core.windows.net/b/f.zip?sv=2024-11-04&sr=b&se=2027-01-01T00%3A00Z&sp=r&sig="
            f"{make.draw(43)}%3D"
        ),
    )
    yield (
        "azure sas token only",
        f"?sv=2024-08-04&ss=bfqt&srt=sco&sp=rwdlac&se=2027-03-01&sig={make.draw(40)}%2B{make.draw(3)}%3D",
    )
    yield "azure function", f"https://acme.azurewebsites.net/api/run?code={make.draw(54, URL_SAFE)}=="
    yield "azure devops", f"AZURE_DEVOPS_PAT={make.draw(52, string.ascii_lowercase + '234567')}"
    yield "digitalocean", "do" + "p_v1_" + make.draw(64, HEX)
    yield "digitalocean refresh", "do" + "r_v1_" + make.draw(64, HEX)
    yield "heroku", f"HEROKU_API_KEY={make.uuid()}"
    yield "heroku new", "HRK" + "U-AA" + make.draw(58, URL_SAFE)
    yield "cloudflare", f"CLOUDFLARE_API_TOKEN={make.draw(40, URL_SAFE)}"
    yield "cloudflare global", f"X-Auth-Key: {make.draw(37, HEX)}"
    yield "alibaba", "LT" + "AI5t" + make.draw(18) + f" / {make.draw(30)} is the access key pair"
    yield "oracle pem", f"key_file content: -----BEGIN RSA PRIV{'ATE'} KEY-----\n{make.draw(64, BASE64)}"
    yield "fly", "fly token: FlyV1 fm" + "2_" + make.draw(150, BASE64)
    yield "supabase", "sb" + "p_" + make.draw(40, HEX)
    yield "planetscale", "pscale" + "_pw_" + make.draw(43, URL_SAFE)
    yield "vercel", f"VERCEL_TOKEN={make.draw(24)}"
    yield "netlify", "nf" + "p_" + make.draw(36)


def _code_hosts(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"code hosts {seed}")
    for kind in "pousr":
        yield f"github {kind}", f"use gh{kind}_{make.draw(36)} for the mirror"
    yield "github fine-grained", "github" + "_pat_" + make.draw(22) + "_" + make.draw(59)
    yield "github clone url", f"git clone https://x-access-token:gh{'s_'}{make.draw(36)}@github.com/acme/app.git"
    yield "github classic hex", f"GITHUB_TOKEN={make.draw(40, HEX)}"
    for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "agent", "oas"):
        yield f"gitlab {kind}", f"token gl{kind}-{make.draw(26, URL_SAFE)}"
    yield "gitlab url", f"https://gitlab.example.com/api/v4/projects?private_token={make.draw(20)}"
    yield "gitlab clone url", f"https://oauth2:{make.draw(24)}@gitlab.example.com/acme/app.git"
    yield "bitbucket app password", "AT" + "BB" + make.draw(32)
    yield "atlassian", "AT" + "ATT3x" + make.draw(180, URL_SAFE) + "=" + make.draw(8, HEX.upper())
    yield "npm", "np" + "m_" + make.draw(36)
    yield "npmrc uuid", f"//npm.example.internal/:_authToken={make.uuid()}"
    yield "npmrc basic", f"//npm.example.internal/:_auth={make.base64(24)}"
    yield "npmrc password", f"//npm.example.internal/:_password={make.base64(18)}"
    yield "pypi", "py" + "pi-AgEIcHlwaS5vcmc" + make.draw(120, URL_SAFE)
    yield "rubygems", "ruby" + "gems_" + make.draw(48, HEX)
    yield "nuget", "oy" + "2" + make.draw(43, string.ascii_lowercase + string.digits)
    yield "crates", "CARGO_REGISTRY_TOKEN=ci" + "o" + make.draw(32)
    yield "docker hub", "dckr" + "_pat_" + make.draw(27, URL_SAFE)
    yield "docker config", f'{{"auths": {{"r.example.com": {{"auth": "{make.base64(30)}"}}}}}}'
    yield "terraform cloud", make.draw(14) + ".atlas" + "v1." + make.draw(67, URL_SAFE)
    yield "pulumi", "pu" + "l-" + make.draw(40, HEX)
    yield "jenkins", f"JENKINS_API_TOKEN=11{make.draw(32, HEX)}"
    yield "circleci", f"Circle-Token: {make.draw(40, HEX)}"
    yield "artifactory", "AK" + "Cp" + make.draw(69)


def _services(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"services {seed}")
    yield "slack bot", "xo" + f"xb-{make.draw(12, string.digits)}-{make.draw(12, string.digits)}-{make.draw(24)}"
    yield "slack user", "xo" + f"xp-{make.draw(12, string.digits)}-{make.draw(12, string.digits)}-{make.draw(32, HEX)}"
    yield "slack refresh", "xo" + f"xe-1-{make.draw(140)}"
    yield "slack app", "xa" + f"pp-1-{make.draw(11, UPPER)}-{make.draw(13, string.digits)}-{make.draw(64, HEX)}"
    yield (
        "slack webhook",
        f"https://hooks.slack.com/services/T{make.draw(8, UPPER)}/B{make.draw(8, UPPER)}/{make.draw(24)}",
    )
    yield (
        "slack workflow",
        f"https://hooks.slack.com/workflows/T{make.draw(8, UPPER)}/A{make.draw(8, UPPER)}"
        f"/{make.draw(18, string.digits)}/{make.draw(24)}",
    )
    yield (
        "discord webhook",
        f"https://discord.com/api/webhooks/{make.draw(18, string.digits)}/{make.draw(68, URL_SAFE)}",
    )
    yield "discord bot", f"bot token M{make.draw(23)}.{make.draw(6, URL_SAFE)}.{make.draw(38, URL_SAFE)}"
    yield (
        "teams webhook",
        f"https://acme.webhook.office.com/webhookb2/{make.uuid()}@{make.uuid()}"
        f"/IncomingWebhook/{make.draw(32, HEX)}/{make.uuid()}",
    )
    yield "telegram", f"{make.draw(10, string.digits)}:AA{make.draw(33, URL_SAFE)}"
    yield "stripe live", "sk" + "_live_" + make.draw(24)
    yield "stripe test", "sk" + "_test_" + make.draw(24)
    yield "stripe restricted", "rk" + "_live_" + make.draw(24)
    yield "stripe webhook", "wh" + "sec_" + make.draw(32)
    yield "twilio key", "SK" + make.draw(32, HEX)
    yield "twilio token", f"TWILIO_AUTH_TOKEN={make.draw(32, HEX)}"
    yield "sendgrid", f"S{'G'}.{make.draw(22, URL_SAFE)}.{make.draw(43, URL_SAFE)}"
    yield "mailgun", f"ke{'y'}-{make.draw(32, HEX)}"
    yield "mailchimp", f"MAILCHIMP_API_KEY={make.draw(32, HEX)}-us12"
    yield "postmark", f"X-Postmark-Server-Token: {make.uuid()}"
    yield "datadog", f"DD_API_KEY={make.draw(32, HEX)}"
    yield "new relic", "NR" + "AK-" + make.draw(27, UPPER)
    yield "grafana", "gl" + "sa_" + make.draw(32) + "_" + make.draw(8, HEX)
    yield "grafana cloud", "gl" + "c_" + make.base64(60)
    yield "sentry", "sntr" + "ys_" + make.base64(60) + "_" + make.draw(43, BASE64)
    yield "linear", "lin" + "_api_" + make.draw(40)
    yield "notion", "nt" + "n_" + make.draw(46)
    yield "notion old", "NOTION_TOKEN=secret" + "_" + make.draw(43)
    yield "airtable", f"pat{make.draw(14)}.{make.draw(64, HEX)}"
    yield "shopify", "shp" + "at_" + make.draw(32, HEX)
    yield "square", "EA" + "AA" + make.draw(60, URL_SAFE) + " is the Square access token"
    yield "doppler", "dp" + ".pt." + make.draw(43)
    yield "vault service", "hv" + "s." + make.draw(90, URL_SAFE)
    yield "vault old", f"VAULT_TOKEN=s.{make.draw(24)}"
    yield "vault header", f"X-Vault-Token: s.{make.draw(24)}"
    yield "databricks", "da" + "pi" + make.draw(32, HEX)
    yield "okta", f"Authorization: SSWS 00{make.draw(40, URL_SAFE)}"
    yield "figma", "fi" + "gd_" + make.draw(40, URL_SAFE)
    yield "mapbox secret", f"s{'k'}.eyJ1Ijoi{make.draw(60)}.{make.draw(22, URL_SAFE)}"
    yield "algolia admin", f"ALGOLIA_ADMIN_KEY={make.draw(32, HEX)}"
    yield "dynatrace", f"dt0{'c01'}.{make.draw(24, UPPER)}.{make.draw(64, UPPER)}"
    yield "postman", f"PM{'AK'}-{make.draw(24, HEX)}-{make.draw(34, HEX)}"
    yield "easypost", "EZ" + "AK" + make.draw(54)
    yield "pagerduty", f"Authorization: Token token={make.draw(20, URL_SAFE)}"
    yield "intercom", f"intercom access token dG9r{make.draw(56)}="
    yield "firebase server", f"AAAA{make.draw(7, URL_SAFE)}:APA91b{make.draw(134, URL_SAFE)}"
    yield "facebook", "EAA" + "CEdEose0cBA" + make.draw(120)


def _models(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"models {seed}")
    yield "openai", "s" + "k-" + make.draw(48)
    yield "openai project", "OPENAI_API_KEY=s" + "k-proj-" + make.draw(120, URL_SAFE)
    yield "anthropic", "s" + "k-ant-api03-" + make.draw(93, URL_SAFE) + "AA"
    yield "hugging face", "h" + "f_" + make.draw(34)
    yield "replicate", "r" + "8_" + make.draw(37)
    yield "groq", "g" + "sk_" + make.draw(52)
    yield "xai", "xa" + "i-" + make.draw(80)
    yield "perplexity", "ppl" + "x-" + make.draw(48)
    yield "cohere", f"COHERE_API_KEY={make.draw(40)}"
    yield "mistral", f"mistral api key: {make.draw(32)}"
    yield "openrouter", "s" + "k-or-v1-" + make.draw(64, HEX)
    yield "pinecone", f"pinecone key is pc{'sk_'}{make.draw(6)}_{make.draw(62)}"


def _keys(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"keys {seed}")
    for kind in ("RSA ", "EC ", "DSA ", "OPENSSH ", "", "ENCRYPTED "):
        name = f"{kind}PRIV" + "ATE KEY"
        yield f"pem {kind or 'pkcs8'}", f"-----BEGIN {name}-----\n{make.draw(64, BASE64)}\n-----END {name}-----"
    yield "pgp", "-----BEGIN PGP PRIV" + f"ATE KEY BLOCK-----\n\nlQOY{make.draw(60, BASE64)}"
    yield "putty", f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{make.draw(48, BASE64)}"
    yield "wireguard", f"[Interface]\nPrivateKey = {make.draw(43, BASE64)}="
    yield "age", "AGE-SECRET" + "-KEY-1" + make.draw(58, UPPER)
    yield "jwk", f'{{"kty": "EC", "crv": "P-256", "x": "{make.draw(43, URL_SAFE)}", "d": "{make.draw(43, URL_SAFE)}"}}'
    jwt = f"eyJhbGciOiJIUzI1NiJ9.eyJ{make.draw(40, URL_SAFE)}.{make.draw(43, URL_SAFE)}"
    yield "jwt", jwt
    yield "jwt bearer", f"Authorization: Bearer {jwt}"
    yield "jwt cookie", f"Cookie: access={jwt}"
    yield "supabase service role", f"SUPABASE_SERVICE_ROLE_KEY={jwt}"
    yield "kubeconfig key", f"client-key-data: LS0tLS1CRUdJTi{make.draw(200, BASE64)}"
    yield "kubeconfig token", f"users:\n- name: ci\n  user:\n    token: {make.draw(48)}"
    yield "ethereum", f"DEPLOYER_PRIVATE_KEY=0x{make.draw(64, HEX)}"
    yield "seed phrase", "the mnemonic is: " + " ".join(make.draw(6, string.ascii_lowercase) for _ in range(12))


def _databases(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"databases {seed}")
    yield "libpq", f"host=db.internal port=5432 dbname=app user=app password={make.password()}"
    yield "libpq quoted", f"psycopg2.connect(\"host=db user=app password='{make.password()}'\")"
    yield "jdbc", f"jdbc:postgresql://db.internal/app?user=app&password={make.password('!-')}"
    yield "jdbc mysql", f"jdbc:mysql://db.internal:3306/app?password={make.password('!-')}&user=root&useSSL=true"
    yield "jdbc oracle", f"jdbc:oracle:thin:scott/{make.password('-_')}@//db.internal:1521/orcl"
    yield "jdbc sqlserver", f"jdbc:sqlserver://db:1433;databaseName=app;user=sa;password={make.password()};encrypt=true"
    yield (
        "ado",
        f"Server=tcp:acme.example.net,1433;Initial Catalog=app;User ID=app;Password={make.password()};Encrypt=True;",
    )
    yield "ado pwd", f"Data Source=db;Initial Catalog=app;Uid=app;Pwd={make.password()};"
    yield "odbc", f"Driver={{ODBC Driver 18 for SQL Server}};Server=db;UID=sa;PWD={make.password()}"
    yield "odbc braces", f"DRIVER={{PostgreSQL}};SERVER=db;UID=app;PWD={{{make.password()};x}}"
    for scheme in ("postgres", "mysql", "mongodb+srv", "amqp", "smtp", "ftp", "https", "mssql+pyodbc"):
        yield f"url {scheme}", f"{scheme}://app:{make.password('!-')}@db.example.internal/app"
    yield "url redis", f"redis://:{make.password('!-')}@cache.internal:6379/0"
    yield "url dollar", f"postgres://app:{make.password('$')}$x@db.internal/app"
    yield "url percent", f"postgres://app:{make.draw(5)}%40{make.draw(4)}%2F{make.draw(3)}@db.internal/app"
    yield "url at", f"postgresql://app:{make.draw(6)}@{make.draw(5)}@db.internal:5432/app"
    yield "url slash", f"postgresql://app:{make.draw(6)}/{make.draw(5)}@db.internal:5432/app"
    yield "url colon", f"mysql://root:{make.draw(4)}:{make.draw(6)}@db.internal/app"
    yield "url hash", f"amqps://svc:{make.draw(5)}#{make.draw(6)}@mq.internal:5671/prod"
    yield "url hex", f"https://deploy:{make.draw(40, HEX)}@nexus.internal/repository/"
    yield "sqlalchemy", f'create_engine("postgresql+psycopg://app:{make.password("!-")}@db/app")'
    yield "pgpass", f"db.internal:5432:app:app:{make.password('!-')}"
    yield "snowflake", f"snowflake://svc:{make.password('!-')}@acme-eu/db/schema"
    yield "ldap", f"bind_dn: cn=svc,dc=acme\nbind_password: {make.password()}"


def _commands(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"commands {seed}")
    yield "pgpassword", f"PGPASSWORD={make.password()} psql -h db.internal -U app"
    yield "psql quoted", f"PGPASSWORD='{make.password()}' pg_dump app > app.sql"
    yield "mysql p", f"mysql -h db -u root -p{make.password('-_')} app"
    yield "mysql long", f"mysqldump --user=root --password={make.password('-_')} app"
    yield "redis-cli", f"redis-cli -h cache -a {make.password('-_')} ping"
    yield "curl basic", f"curl -u deploy:{make.password('-_')} https://nexus.internal/"
    yield "curl user", f"curl --user 'admin:{make.password()}' https://grafana.internal/api"
    yield "curl bearer", f"curl -H 'Authorization: Bearer {make.draw(40)}' https://api.internal/v1"
    yield "curl header", f"curl -H 'X-Api-Key: {make.draw(32)}' https://api.internal/v1"
    yield "wget", f"wget --http-user=ci --http-password={make.password('-_')} https://files.internal/x.tgz"
    yield "sshpass", f"sshpass -p '{make.password()}' ssh deploy@host"
    yield "docker login", f"docker login -u acme -p {make.password('-_')} registry.internal"
    yield "docker env", f"docker run -e DB_PASSWORD={make.password('-_')} app:latest"
    yield "openssl", f"openssl enc -aes-256-cbc -k {make.password('-_')} -in a -out b"
    yield "openssl pass", f"openssl rsa -in key.pem -passin pass:{make.password('-_')}"
    yield "ansible", f"ansible-playbook site.yml -e ansible_become_password={make.password('-_')}"
    yield "aws configure", f"aws configure set aws_secret_access_key {make.draw(40, BASE64)}"
    yield "vault login", f"vault login s.{make.draw(24)}"
    yield "sqlcmd", f"sqlcmd -S db -U sa -P {make.password('-_')} -Q 'select 1'"
    yield "net use", f"net use Z: \\\\files\\share /user:acme\\svc {make.password('-_')}"
    yield "smbclient", f"smbclient //files/share -U svc%{make.password('-_')}"
    yield "htpasswd command", f"htpasswd -b .htpasswd admin {make.password('-_')}"
    yield "flag with space", f"acme-cli login --username ci --password {make.password('-_')}"
    yield "token flag", f"gh auth login --with-token={make.draw(40, HEX)}"


def _files(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"files {seed}")
    yield "netrc", f"machine api.example.com login deploy password {make.password('-_')}"
    yield "netrc lines", f"machine git.internal\n  login ci\n  password {make.draw(24)}"
    yield "htpasswd apr1", f"admin:$ap{'r1'}${make.draw(8)}${make.draw(22)}"
    yield "bcrypt", f"admin hash: $2{'b'}$12${make.draw(53, ALNUM + './')}"
    yield "shadow", f"root:${'6'}${make.draw(16)}${make.draw(86, ALNUM + './')}:19700:0:99999:7:::"
    yield "argon2 hash", f"$argon{'2id'}$v=19$m=65536,t=3,p=4${make.draw(22)}${make.draw(43)}"
    yield "xml password", f"<username>svc</username><password>{make.password()}</password>"
    yield "xml attribute", f'<server id="x" user="svc" password="{make.password()}"/>'
    yield "maven encrypted", f"<password>{{{make.base64(33)}}}</password>"
    yield "web.config", f'<add name="Db" connectionString="Server=db;User Id=sa;Password={make.password()};" />'
    yield "properties", f"spring.datasource.password={make.password()}"
    yield "toml", f'[database]\nuser = "app"\npassword = "{make.password()}"'
    yield "ini", f"[smtp]\nuser=mailer\npass={make.password()}"
    yield "rails", f"secret_key_base: {make.draw(128, HEX)}"
    yield "rails master", f"RAILS_MASTER_KEY={make.draw(32, HEX)}"
    yield "django", f"SECRET_KEY = 'django-insecure-{make.draw(50, ALNUM + '!@#$^&*(-_=+)')}'"
    yield "laravel", f"APP_KEY=base64:{make.draw(43, BASE64)}="
    yield "wordpress", f"define( 'DB_PASSWORD', '{make.password()}' );"
    yield "wordpress salt", f"define('AUTH_KEY', '{make.draw(40, ALNUM + '!@#%^&*()-_=+')}');"
    yield "flask", f"app.config['SECRET_KEY'] = '{make.draw(32)}'"
    yield "k8s secret", f"kind: Secret\ndata:\n  password: {make.base64(18)}"
    yield "cookie", f"Cookie: session={make.draw(64, HEX)}; theme=dark"
    yield "set-cookie", f"Set-Cookie: connect.sid=s%3A{make.draw(32, URL_SAFE)}.{make.draw(43)}; Path=/"
    yield (
        "phpsessid",
        f"curl -b 'PHPSESSID={make.draw(26, string.ascii_lowercase + string.digits)}' https://app.internal",
    )
    yield "rememberme", f"remember_token={make.draw(22, URL_SAFE)}"


def _assignments(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"assignments {seed}")
    for name in ("DB_PASSWORD", "DATABASE_PASSWORD", "SMTP_PASS", "MYSQL_ROOT_PASSWORD", "REDIS_PASSWORD", "ADMIN_PWD"):
        yield f"env {name}", f"{name}={make.password()}"
    for name in ("JWT_SECRET", "SESSION_SECRET", "ENCRYPTION_KEY", "SIGNING_KEY", "WEBHOOK_SECRET", "API_TOKEN"):
        yield f"env {name}", f"{name}={make.draw(40)}"
    for name in ("password", "passwd", "passphrase", "db_pass", "clientSecret", "api_key", "apikey", "auth_token"):
        yield f"yaml {name}", f"{name}: {make.password()}"
        yield f"json {name}", f'"{name}": "{make.password()}"'
    yield "yaml short", f"password: {make.draw(8)}"
    yield "yaml lower", f"password: {make.draw(12, string.ascii_lowercase + string.digits)}"
    yield "yaml symbols", f"password: {make.draw(3)}@{make.draw(3)}$%{make.draw(2)}"
    yield "quoted words", 'password = "correct-horse-battery-7"'
    yield "go", f'password := "{make.password()}"'
    yield "ruby", f":password => '{make.password()}'"
    yield "python kwarg", f"connect(user='app', password='{make.password()}')"
    yield "typescript", f"const apiKey = `{make.draw(32)}`;"
    yield "java", f'private static final String PASSWORD = "{make.password()}";'
    yield "csharp", f'var clientSecret = "{make.draw(40)}";'
    yield "query string", f"https://api.example.com/v1?access_token={make.draw(40)}"
    yield "query key", f"https://api.example.com/v1/weather?units=metric&apikey={make.draw(32, HEX)}"
    yield "basic header", f"Authorization: Basic {b64encode(('deploy:' + make.password()).encode()).decode()}"
    yield "basic lower", f"authorization: basic {b64encode(('ci:' + make.password()).encode()).decode()}"
    yield "bearer opaque", f"Authorization: Bearer {make.draw(43, URL_SAFE)}"
    yield "bearer alone", f"call it with Bearer {make.draw(32, HEX)}"
    yield "token header", f"Authorization: token {make.draw(40, HEX)}"
    yield "proxy auth", f"Proxy-Authorization: Basic {make.base64(24)}"
    yield "api header", f"x-api-key: {make.draw(36)}"
    yield "oauth json", f'{{"access_token": "{make.draw(48)}", "expires_in": 3600}}'
    yield "refresh json", f'{{"refresh_token": "{make.draw(40)}"}}'


def _prose(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"prose {seed}")
    yield "finding", "the staging db password is hunter2-" + "Xk93!pq"
    yield "is", f"The admin password is {make.password()}."
    yield "for", f"password for the staging admin account: {make.password()}"
    yield "of", f"The password of the replica is `{make.password()}`; change it after the migration."
    yield "was set to", f"We set the root password to {make.password()} on all three nodes."
    yield "changed to", f"The password was changed to {make.password()} on Monday."
    yield "login slash", f"Staging login: admin / {make.password()}"
    yield "credentials", f"Test account credentials: qa@example.com / {make.password()}"
    yield "creds colon", f"creds deploy:{make.password()}"
    yield "use as", f"Use {make.draw(32)} as the API key for the sandbox."
    yield "api key is", f"The API key for the sandbox is {make.draw(32, HEX)}."
    yield "token quoted", f"Their token ('{make.draw(28)}') does not expire."
    yield "pw", f"pw: {make.password()}"
    yield "pw is", f"the wifi pw is {make.password()}"
    yield "with password", f"Log in as root with password {make.password()} and run the script."
    yield "german is", f"Das Passwort für den Server ist {make.password()}."
    yield "german colon", f"Kennwort: {make.password()}"
    yield "french", f"Le mot de passe est {make.password()}"
    yield "spanish", f"La contraseña es {make.password()}"
    yield "key equals", f"our signing secret = {make.draw(32)}"
    yield "passphrase", f"The passphrase of the signing key is '{make.password()} {make.draw(5)}'"
    yield "markdown table", f"| user | password |\n| --- | --- |\n| admin | {make.password()} |"
    yield "list", f"- user: svc-deploy\n- password: {make.password()}\n- host: db.internal"
    yield "parentheses", f"Connect as app (password {make.password()}) to the replica."
    yield "secret is", f"The webhook secret is {make.draw(24)}, shared with the vendor."


def _weak(seed: int) -> Iterator[tuple[str, str]]:
    """Return passwords without a sign, which only the sentence around them gives away."""
    make = Maker(f"weak {seed}")
    yield "weak is", f"The password for staging is {make.weak()}."
    yield "weak db", f"the staging db password is {make.weak()}"
    yield "weak was", f"Until March the admin password was {make.weak()}, and some scripts still use it."
    yield "weak now", f"root password is now {make.weak()}"
    yield "weak set", f"We set the password to {make.weak()} for the demo."
    yield "weak reset", f"The password gets reset to {make.weak()} every night."
    yield "weak wifi", f"Guest wifi password: {make.weak()}"
    yield "weak pw", f"pw for the printer is {make.weak()}"
    yield "weak quoted", f"The password of the test user is '{make.weak()}'"
    yield "weak german", f"Das Passwort der Testdatenbank ist {make.weak()}."
    yield "weak spanish", f"La contraseña del servidor es {make.weak()}"
    yield "weak log in", f"Log in with admin and {make.password()} on the staging box."
    yield "weak sign in", f"sign in as qa@example.com / {make.password()}"
    yield "weak passphrase", f'The passphrase of the backup key is "{make.words(4)}"'
    yield "weak passphrase colon", f"passphrase: '{make.words(5)}'"
