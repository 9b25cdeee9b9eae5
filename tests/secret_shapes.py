"""Made-up credentials in shapes that hide them from a plain pattern, and harmless texts that come close to them.

`secret_corpus` has what people paste. This has the ways around it: schemes in capitals, names in quotes of any kind,
short options of programs, signs that shells and URLs give a meaning, characters that cannot be seen, text that was
escaped. Each family crosses a list of frames with bodies drawn from a seeded generator; nothing is or was a key.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

from tests.secret_corpus import ALNUM, HEX, URL_SAFE, Maker, Text

INVISIBLE = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u2062")
_SCHEMES = (
    "POSTGRES",
    "Postgresql",
    "MYSQL",
    "MongoDB+SRV",
    "REDIS",
    "AMQP",
    "HTTPS",
    "Ftp",
    "SFTP",
    "LDAP",
    "MSSQL+PYODBC",
    "Clickhouse+Native",
    "NATS",
    "SMB",
)
_QUOTED = (
    "'password': '{}'",
    '"password": "{}"',
    "'db_password': \"{}\"",
    "`password`: `{}`",
    "“password”: “{}”",
    "‘password’: ‘{}’",
    "«password»: «{}»",
    '\\"password\\": \\"{}\\"',
    "&quot;password&quot;: &quot;{}&quot;",
    "{{'user': 'app', 'passwd': '{}'}}",
    "config['password'] = '{}'",
    'config["db"]["password"] = "{}"',
    "dict(password='{}')",
    "password => '{}'",
    ':password => "{}"',
    "'password' => '{}',",
    '"password" = "{}"',
    "[password] {}",
    "<password>{}</password>",
    '<property name="password" value="{}"/>',
    "password：{}",
    "**password**: {}",
    "`password`: {}",
    "__Password__ = {}",
    "| password | {} |",
    "password -> {}",
    "password → {}",
    'setPassword("{}")',
    ".password('{}')",
    "--password '{}'",
    '--password="{}"',
    "/password:{}",
    "-Dpassword={}",
    "-Dspring.datasource.password={}",
    "%env(password)={}",
    "set password={}",
    "setx DB_PASSWORD {}",
    "$env:DB_PASSWORD = '{}'",
    "ALTER USER app WITH PASSWORD '{}';",
    "CREATE USER app IDENTIFIED BY '{}';",
    "ALTER ROLE app PASSWORD '{}'",
    "SET PASSWORD FOR 'app'@'%' = '{}';",
    "requirepass {}",
    "masterauth {}",
)
_COMMANDS = (
    "docker login -u acme -p {} registry.internal",
    "docker login registry.internal -p {} -u acme",
    "docker login -p{} -u acme",
    "docker login --username acme --password {}",
    "podman login -u acme -p {} quay.io",
    "helm registry login -u acme -p {} registry.internal",
    "nerdctl login -u acme -p '{}'",
    "buildah login -p {} quay.io",
    "oc login -u dev -p {} https://api.ocp.internal:6443",
    "az login -u svc@acme.example -p {}",
    "az acr login -n acme -u svc -p {}",
    "cf login -u dev -p {}",
    "skopeo login -u acme -p {} quay.io",
    "sshpass -p {} ssh deploy@host",
    "sshpass -p{} ssh deploy@host",
    "mysql -uroot -p{} app",
    "mysqladmin -u root -p'{}' status",
    "mysql -u root --password={} app",
    "mongosh -u admin -p {} --host db",
    "mongo --username admin --password {}",
    "mongodump -u admin -p '{}'",
    "redis-cli -a {} ping",
    "redis-cli --pass {} ping",
    "REDISCLI_AUTH={} redis-cli ping",
    "PGPASSWORD={} psql -h db",
    "psql 'user=app password={} host=db'",
    "sqlcmd -S db -U sa -P {}",
    "bcp x in y -U sa -P {}",
    "sqlplus scott/{}@orcl",
    "curl -u admin:{} https://x.internal",
    "curl -uadmin:{} https://x.internal",
    "curl --user admin:{} https://x.internal",
    "curl --proxy-user admin:{} https://x.internal",
    "http -a admin:{} https://x.internal",
    "wget --password={} https://x.internal",
    "lftp -u admin,{} ftp.internal",
    "ftp://admin:{}@ftp.internal",
    "smbclient //files/share -U svc%{}",
    "rdesktop -u admin -p {} host",
    "xfreerdp /u:admin /p:{} /v:host",
    "zip -P {} a.zip b",
    "unzip -P {} a.zip",
    "7z x -p{} a.7z",
    "openssl enc -aes-256-cbc -k {} -in a",
    "openssl pkcs12 -in a.p12 -passin pass:{}",
    "gpg --batch --passphrase {} -d a.gpg",
    "keytool -list -keystore a.jks -storepass {}",
    "jarsigner -keypass {} a.jar x",
    "ldapsearch -D cn=svc -w {} -b dc=acme",
    "kinit svc <<< '{}'",
    "echo '{}' | docker login --password-stdin -u acme",
    "echo {} | sudo -S apt update",
    "echo 'root:{}' | chpasswd",
    "net user svc {} /add",
    "net use Z: \\\\files\\share {} /user:svc",
    "htpasswd -bc .htpasswd admin {}",
    "vault write auth/userpass/users/app password={}",
    "rabbitmqctl add_user app {}",
    "rabbitmqctl change_password app {}",
    "influx -username admin -password {}",
    "snowsql -a acme -u svc --password {}",
    "kubectl create secret generic db --from-literal=password={}",
    "ansible-playbook a.yml --extra-vars 'become_pass={}'",
    "export PASSWORD={}",
    "export DB_PASS='{}'",
    "svn checkout --username ci --password {} https://svn",
    "nmcli dev wifi connect Office password {}",
    "git clone https://ci:{}@git.internal/app.git",
    "npm config set //npm.internal/:_password={}",
    "twine upload -u __token__ -p {} dist/*",
    "http --auth deploy:{} GET nexus.internal",
    "ipmitool -H bmc -U admin -P {} power status",
    "snmpwalk -v3 -u ops -A {} host",
    "ssh-keygen -t ed25519 -N {} -f key",
    "wpa_passphrase office {}",
)
_SIGNS = ("$", "%", "$$", "%%", "&", "^", "@", "!", "#", "=", "{", "}", "(", ")", "<", ";", "~", "|", "\\", "?")
_PROSE = (
    "the password is {}",
    "Password: {}",
    "PASSWORD : {}",
    "PW={}",
    "pass = {}",
    "The root password was {} until March",
    "we set the password to {}",
    "Kennwort lautet {}",
    "senha: {}",
    "la password è {}",
    "wachtwoord: {}",
    "пароль: {}",
    "密码：{}",
    "パスワード: {}",
    "PIN/password: {}",
    "username: admin, password: {}",
    "admin/{} works on staging login",
    "login with admin:{} on the box",
)
_LOGINS = (
    "grafana admin: admin / {}",
    "the basic auth for staging is acme:{}",
    "ftp -n; user anna {}",
    "a1 LOGIN anna {}",
    "SMTP login no-reply@acme.example with {}",
    "enable secret {}",
    "username admin privilege 15 secret {}",
)


def secrets(seed: int = 0) -> list[Text]:
    """Return credentials in shapes that hide them; each seed gives others."""
    families = (_upper_schemes, _quoted_names, _commands, _signs, _invisible, _escaped, _headers, _prose)
    return [Text(name, text) for family in families for name, text in family(seed)]


def _upper_schemes(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"schemes {seed}")
    for scheme in _SCHEMES:
        yield f"scheme {scheme}", f"{scheme}://app:{make.password('!-')}@db.example.internal/app"
    yield "scheme jdbc", f"JDBC:POSTGRESQL://db/app?USER=app&PASSWORD={make.password('!-')}"
    yield "scheme oracle", f"JDBC:ORACLE:THIN:scott/{make.password('-_')}@//db:1521/orcl"
    yield (
        "scheme webhook",
        f"HTTPS://HOOKS.SLACK.COM/services/T0{make.draw(7)}/B0{make.draw(7)}/{make.draw(24)}".replace(
            "T0", "T0AB12", 1
        ).upper(),
    )
    yield "scheme basic", f"AUTHORIZATION: BASIC {make.base64(24)}"
    yield "scheme bearer", f"AUTHORIZATION: BEARER {make.draw(40)}"
    yield "scheme relative", f"//app:{make.password('!-')}@db.example.internal/app"


def _quoted_names(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"quoted {seed}")
    for frame in _QUOTED:
        yield f"quoted {frame}", frame.format(make.password("!-"))
    for name in ("api_key", "client_secret", "accessToken", "auth-token", "privateKey", "signing_key"):
        yield f"quoted key {name}", f"'{name}': '{make.draw(32)}'"
        yield f"quoted smart {name}", f"“{name}”: “{make.draw(32)}”"


def _commands(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"shape commands {seed}")
    for frame in _COMMANDS:
        yield f"command {frame}", frame.format(make.password("-_"))


def _signs(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"signs {seed}")
    for sign in _SIGNS:
        yield f"sign first {sign}", f"DB_PASSWORD='{sign}{make.draw(10)}'"
        yield f"sign inside {sign}", f"password: {make.draw(5)}{sign}{make.draw(6)}"
    for sign in "$%":
        yield f"sign bare {sign}", f"PASSWORD={sign}{make.draw(4)}{sign}{make.draw(5)}!"
        yield f"sign url {sign}", f"postgres://app:{sign}{make.draw(8)}@db.internal/app"
        yield f"sign prose {sign}", f"the password is {sign}{make.draw(5)}{sign}{make.draw(4)}"
        yield f"sign curl {sign}", f"curl -u 'admin:{sign}{make.draw(9)}' https://x.internal"
    yield "sign double", f"password: {make.draw(4)}$${make.draw(4)}%{make.draw(2)}"
    yield "sign digits", f"password = '${make.draw(3, string.digits)}{make.draw(8)}'"


def _invisible(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"invisible {seed}")
    for char in INVISIBLE:
        body = make.password("!-")
        yield f"invisible value {char!a}", f"password: {body[:4]}{char}{body[4:]}"
        yield f"invisible name {char!a}", f"pass{char}word: {make.password('!-')}"
    token = "gh" + "p_" + make.draw(36)
    yield "invisible token", f"{token[:12]}\u200b{token[12:]}"
    yield "invisible prefix", f"g\u200bh{token[2:]}"
    yield "invisible key", "AK" + "IA\u2060" + make.draw(16, string.ascii_uppercase + string.digits)
    yield "invisible everywhere", "\u200b".join(f"password={make.password('!-')}")
    yield "invisible url", f"postgres:\u200b//app:{make.password('!-')}@db.internal/app"
    yield "invisible space", f"password:\u00a0{make.password('!-')}"
    yield "invisible thin", f"password\u2009=\u2009{make.password('!-')}"
    yield "invisible bidi", f"password: \u202e{make.password('!-')}\u202c"
    for name in ("p\u0430ssword", "\u0440\u0430ssword", "passw\u043erd", "\u0421LIENT_SECRET"):
        yield f"cyrillic {name!a}", f"{name}: {make.password('!-')}"
    yield "wide letters", _wide(f"password={make.password('!-')}")
    yield "wide name", f"{_wide('password')}: {make.password('!-')}"


def _escaped(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"escaped {seed}")
    yield "escaped json", '{\\"db_password\\": \\"' + make.password("!-") + '\\"}'
    yield "escaped json twice", '{\\\\\\"db_password\\\\\\": \\\\\\"' + make.password("!-") + '\\\\\\"}'
    yield "escaped newline", f"user: app\\npassword: {make.password('!-')}\\nhost: db"
    yield "escaped html", f"password=&#39;{make.password('!-')}&#39;"
    yield "escaped entity url", f"https://x.internal/?user=a&amp;password={make.password('!-')}&amp;x=1"
    yield "escaped url query", f"https://x.internal/cb?redirect=%3Fpassword%3D{make.draw(14)}"
    yield "escaped backslash", f"password\\={make.password('!-')}"
    yield "escaped tabs", f"password\t\t{make.password('!-')}"
    yield "escaped next line", f"password:\n  {make.password('!-')}"
    yield "escaped folded", f"password: >-\n  {make.password('!-')}"
    yield "escaped block", f"password: |\n  {make.password('!-')}"
    yield "escaped aligned", f"password{' ' * 12}: {make.password('!-')}"
    yield "escaped comment", f"# password: {make.password('!-')}"
    yield "escaped line ends", f"user: app\r\npassword: {make.password('!-')}\r\n"


def _headers(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"headers {seed}")
    for name in ("X-API-KEY", "x-auth-token", "X-Vault-Token", "PRIVATE-TOKEN", "Api-Key", "X-Access-Token", "apikey"):
        yield f"header {name}", f"-H '{name}: {make.draw(32)}'"
        yield f"header json {name}", f'{{"{name}": "{make.draw(32)}"}}'
    yield "header digest", f"Authorization: Digest username='a', response='{make.draw(32, HEX)}'"
    yield "header auth", f"auth: Basic {make.base64(24)}"
    yield "header url", f"git remote set-url origin https://{make.draw(40, HEX)}@git.internal/acme/app.git"
    yield "header raw", f"'Authorization': '{make.draw(40, URL_SAFE)}'"
    yield "header basic json", f'"authorization": "Basic {make.base64(24)}"'
    yield "header cookie", f"cookie: sid={make.draw(40)}"
    yield "header key path", f"https://api.internal/v1/?key={make.draw(39, ALNUM)}"
    yield "header cargo", f"cargo login cio{make.draw(32)}"
    yield "header hmac", f"hmac_secret={make.draw(44)}"


def _prose(seed: int) -> Iterator[tuple[str, str]]:
    make = Maker(f"shape prose {seed}")
    for frame in _PROSE:
        yield f"prose {frame}", frame.format(make.password("!-"))
    for frame in _LOGINS:
        # With capitals among its letters as often as a generator has them.
        yield f"prose {frame}", frame.format(f"{make.draw(3)}{make.draw(2, 'KLMN')}{make.draw(3)}#{make.draw(6)}")


def _wide(text: str) -> str:
    """Return the same text in the full-width letters of East Asian fonts."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def harmless() -> list[Text]:
    """Return what comes close to those shapes and gives nothing away."""
    make = Maker("harmless shapes")
    return [Text(f"harmless {number}", text) for number, text in enumerate(_harmless(make), 1)]


def _harmless(make: Maker) -> Iterator[str]:
    yield from (
        "HTTPS://EXAMPLE.COM:8443/a@b",
        "SSH://git@host:22/x",
        "POSTGRES://APP:$DB_PASSWORD@DB/APP",
        "Postgres://app:${DB_PASSWORD}@db/app",
        "MYSQL://root:<password>@db/app",
        "postgres://app:%DB_PASSWORD%@db/app",
        "postgres://app:$(cat /run/secrets/db)@db/app",
        "postgres://app:{password}@db/app",
        "postgres://app:%s@db/app",
        "redis://:%(password)s@cache:6379",
        "https://{user}:{token}@git.internal/app.git",
        "'password': '$DB_PASSWORD'",
        "'password': '${DB_PASSWORD}'",
        "'password': '%(db_password)s'",
        "'password': '%DB_PASSWORD%'",
        "'password': 'string'",
        '"password": "{{ db_password }}"',
        "'password': os.environ['DB_PASSWORD']",
        "`password`: the field of the form",
        "“password”: required, 12 characters",
        "password => $request->password",
        "params[:password]",
        "user.password = hash(password)",
        "docker login -u acme -p $REGISTRY_TOKEN registry.internal",
        "docker login -u acme -p ${REGISTRY_TOKEN}",
        "docker login -u acme --password-stdin < token.txt",
        "docker run -p 8080:80 -p 5432:5432 postgres:16",
        "docker compose -p payments2 up",
        "mkdir -p src/onrecord2/a1b2",
        "ssh -p 2222 deploy@host",
        "cp -p a1.txt b2.txt",
        "mysql -u root -p app",
        "mysql -uroot -p$MYSQL_PWD app",
        "psql -p 5433 -U app",
        "redis-cli -p 6380 -a $REDIS_AUTH ping",
        "zip -r build-2026.zip dist",
        "7z a -mx9 build.7z dist",
        "unzip -P $ZIP_PASSWORD a.zip",
        "curl -u admin:$PASSWORD https://x",
        'curl -u "$USER:$TOKEN" https://x',
        "az login --service-principal -u $ID -p $SECRET",
        "sqlplus /nolog",
        "net user svc /delete",
        "sudo -u postgres2 psql",
        "kubectl -n team2 get secret db -o yaml",
        "echo $PASSWORD | docker login --password-stdin -u acme",
        "PASSWORD=%PASSWORD% in the batch file",
        "PASSWORD=$1 in the script",
        "PASSWORD=$(openssl rand -hex 16)",
        "PASSWORD=`pwgen 32 1`",
        "ALTER USER app WITH PASSWORD :'new_password';",
        "CREATE USER app IDENTIFIED BY RANDOM PASSWORD;",
        "requirepass $REDIS_PASSWORD",
        "password:\n  type: string\n  minLength: 12",
        "password: |\n  generated at install time",
        "password -> argon2id -> users.hash",
        "password → bcrypt12 → column",
        "| password | varchar(128) |",
        "| password | required since v2.1 |",
        "密码：见 1Password",
        "The password\u200b is kept in the vault",
        "Zero-width spaces such as U+200B are removed",
        "key: \u2018value\u2019 pairs",
        "Kennwort lautet wie im Vault, Eintrag db-prod2",
        "пароль: в хранилище",
        "setPassword(user, newPassword1)",
        "X-API-KEY: $API_KEY",
        "'Authorization': `Bearer ${token}`",
        "Authorization: Bearer ${{ secrets.CI }}",
        "apikey: see vault/ci2",
        "?key=user_id2&sort=asc",
        "cache_key=sessions:v3:user",
        "cookie: sid is HttpOnly",
        f"https://{make.draw(32, HEX)}@o17.ingest.sentry.io/42",
        "https://continuous-integration@git.internal/acme/app.git",
        "snmpwalk -v2c -c public router7",
        "ssh-keygen -t ed25519 -C deploy2@ci -f key",
        "a basic understanding of RFC2617 helps",
        "Basic authentication2faInProgress is a state",
        "Сервис AuthСервис2 хранит пароль в Vault",
        "the admin panel shows Issue#1234 and PROJ#77",
        "login as anna with MFA, see Runbook#12",
        "root: src/App2Main.java",
        "user: anna / team: Search2",
        "enable secret scanning in GitHub",
        "secret santa 2025 is on 12 December",
        "the %TEMP% folder and $HOME/.cache2",
        "costs $100 to $2500",
        "50%2B50 is encoded",
        "login as admin on the box, then run setup2.sh",
        "pass --pass2 to the linker",
        f"sha256={make.draw(64, HEX)}",
        f'ETag: "{make.draw(32, HEX)}"',
        f"build {make.draw(12, HEX)} passed",
    )
