"""Planted secrets, made by a seeded generator from the documented shapes, in the surroundings where they turn up.

Nothing here is a secret, and nothing that a scanner takes for one stands in this file: prefixes are put together.
"""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = DIGITS + "abcdef"
URL_SAFE = ALNUM + "-_"
RUN = 12
"""So many characters of a secret in a row are too many."""


class Planted(NamedTuple):
    """A text with a secret in it."""

    kind: str
    place: str
    secret: str
    text: str

    def survivors(self, text: str) -> list[str]:
        """Return what of the secret is still in a text: parts of 12 characters, or the whole when it is shorter."""
        compact = "".join(self.secret.split())
        size = min(RUN, len(compact))
        texts = (text, "".join(text.split()))
        parts = (compact[at : at + size] for at in range(len(compact) - size + 1))
        return [part for part in parts if any(part in one for one in texts)]


class Maker:
    """Random parts of tokens, the same in every run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, letters: str, length: int) -> str:
        """Return a random word, with a digit and a letter in it as any of that length has."""
        while True:
            word = "".join(self.random.choices(letters, k=length))
            mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
            if length < 8 or mixed or not (set(DIGITS) & set(letters) and set(letters) - set(DIGITS)):
                return word

    def alnum(self, length: int) -> str:
        return self.some(ALNUM, length)

    def hex(self, length: int) -> str:
        return self.some(HEX, length)

    def safe(self, length: int) -> str:
        return self.alnum(1) + self.some(URL_SAFE, length - 2) + self.alnum(1)

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def b64(self, bytes_: int) -> str:
        return base64.b64encode(self.random.randbytes(bytes_)).decode()


TOKENS: dict[str, Callable[[Maker], str]] = {
    "aws access key": lambda m: "AK" + "IA" + m.some(UPPER + "234567", 16),
    "aws temporary key": lambda m: "AS" + "IA" + m.some(UPPER + "234567", 16),
    "aws bedrock key": lambda m: "AB" + "SK" + m.b64(84),
    "azure client secret": lambda m: m.alnum(3) + "8Q" + "~" + m.alnum(34),
    "azure devops token": lambda m: m.alnum(76) + "AZ" + "DO" + m.alnum(4),
    "google api key": lambda m: "AI" + "za" + "Sy" + m.safe(33),
    "google access token": lambda m: "ya" + "29." + "a0" + m.safe(120),
    "google refresh token": lambda m: "1/" + "/0" + m.safe(60),
    "google client secret": lambda m: "GOC" + "SPX-" + m.safe(28),
    "alibaba access key": lambda m: "LT" + "AI" + m.alnum(20),
    "tencent secret id": lambda m: "AK" + "ID" + m.alnum(32),
    "digitalocean token": lambda m: "dop" + "_v1_" + m.hex(64),
    "digitalocean oauth": lambda m: "doo" + "_v1_" + m.hex(64),
    "heroku key": lambda m: "HR" + "KU-" + "AA" + m.safe(58),
    "fly.io token": lambda m: "fm" + "2_" + m.b64(90),
    "netlify token": lambda m: "nf" + "p_" + m.alnum(36),
    "render key": lambda m: "rn" + "d_" + m.alnum(28),
    "supabase key": lambda m: "sb" + "p_" + m.hex(40),
    "planetscale token": lambda m: "pscale" + "_tkn_" + m.safe(43),
    "databricks token": lambda m: "da" + "pi" + m.hex(32),
    "cloudflare origin key": lambda m: "v1" + ".0-" + m.hex(24) + "-" + m.hex(146),
    "openshift token": lambda m: "sha" + "256~" + m.safe(43),
    "tailscale key": lambda m: "tskey" + "-auth-" + m.alnum(11) + "CNTRL-" + m.alnum(32),
    "vault token": lambda m: "hv" + "s." + m.safe(92),
    "vault batch token": lambda m: "hv" + "b." + m.safe(140),
    "terraform token": lambda m: m.alnum(14) + ".atlas" + "v1." + m.alnum(67),
    "pulumi token": lambda m: "pu" + "l-" + m.hex(40),
    "doppler token": lambda m: "dp" + ".pt." + m.alnum(43),
    "1password secret": lambda m: "A" + "3-" + "-".join(m.some(UPPER + DIGITS, n) for n in (6, 6, 5, 5, 5, 5)),
    "github token": lambda m: "gh" + "p_" + m.alnum(36),
    "github server token": lambda m: "gh" + "s_" + m.alnum(36),
    "github fine-grained token": lambda m: "github" + "_pat_" + m.alnum(22) + "_" + m.alnum(59),
    "gitlab token": lambda m: "glp" + "at-" + m.safe(20),
    "gitlab deploy token": lambda m: "gl" + "dt-" + m.safe(20),
    "gitlab runner token": lambda m: "glr" + "t-" + "t1_" + m.safe(30) + ".01." + m.some(LOWER + DIGITS, 9),
    "bitbucket app password": lambda m: "AT" + "BB" + m.alnum(32),
    "atlassian token": lambda m: "ATA" + "TT3x" + "FfGF0" + m.safe(170) + "=" + m.some("0123456789ABCDEF", 8),
    "npm token": lambda m: "np" + "m_" + m.alnum(36),
    "pypi token": lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.safe(120),
    "rubygems key": lambda m: "ruby" + "gems_" + m.hex(48),
    "crates.io token": lambda m: "ci" + "o" + m.alnum(32),
    "nuget key": lambda m: "oy" + "2" + m.some(LOWER + DIGITS, 43),
    "docker token": lambda m: "dckr" + "_pat_" + m.safe(27),
    "artifactory key": lambda m: "AK" + "Cp" + m.alnum(69),
    "sonar token": lambda m: "sq" + "p_" + m.hex(40),
    "buildkite token": lambda m: "bk" + "ua_" + m.hex(40),
    "postman key": lambda m: "PM" + "AK-" + m.hex(24) + "-" + m.hex(34),
    "launchdarkly key": lambda m: "sd" + "k-" + m.uuid(),
    "anthropic key": lambda m: "sk-" + "ant-api03-" + m.safe(93) + "AA",
    "openai key": lambda m: "sk-" + "proj-" + m.safe(74) + "T3Blbk" + "FJ" + m.safe(74),
    "openai legacy key": lambda m: "sk" + "-" + m.alnum(20) + "T3Blbk" + "FJ" + m.alnum(20),
    "openrouter key": lambda m: "sk-" + "or-v1-" + m.hex(64),
    "hugging face token": lambda m: "hf" + "_" + m.some(string.ascii_letters, 34),
    "perplexity key": lambda m: "pp" + "lx-" + m.alnum(48),
    "groq key": lambda m: "gs" + "k_" + m.alnum(52),
    "replicate token": lambda m: "r" + "8_" + m.alnum(37),
    "xai key": lambda m: "xa" + "i-" + m.alnum(80),
    "nvidia key": lambda m: "nv" + "api-" + m.safe(64),
    "langsmith key": lambda m: "lsv2" + "_pt_" + m.hex(32) + "_" + m.hex(10),
    "slack bot token": lambda m: "xo" + "xb-" + m.some(DIGITS, 12) + "-" + m.some(DIGITS, 13) + "-" + m.alnum(24),
    "slack user token": lambda m: "xo" + "xp-" + "-".join(m.some(DIGITS, 12) for _ in range(3)) + "-" + m.hex(32),
    "slack app token": lambda m: "xa" + "pp-1-A" + m.some(UPPER + DIGITS, 10) + "-" + m.some(DIGITS, 13) + "-" + m.hex(64),
    "slack webhook": lambda m: "https://hooks.slack" + ".com/services/T" + m.some(UPPER + DIGITS, 8) + "/B" + m.some(UPPER + DIGITS, 10) + "/" + m.alnum(24),
    "discord bot token": lambda m: "MT" + m.alnum(24) + "." + "G" + m.alnum(5) + "." + m.safe(38),
    "discord webhook": lambda m: "https://discord" + ".com/api/webhooks/" + m.some(DIGITS, 19) + "/" + m.safe(68),
    "telegram bot token": lambda m: m.some("123456789", 10) + ":A" + "A" + m.safe(33),
    "teams webhook": lambda m: "https://shop.webhook.office" + f".com/webhookb2/{m.uuid()}@{m.uuid()}/IncomingWebhook/{m.hex(32)}/{m.uuid()}",
    "twilio key": lambda m: "S" + "K" + m.hex(32),
    "sendgrid key": lambda m: "S" + "G." + m.safe(22) + "." + m.safe(43),
    "mailgun key": lambda m: "ke" + "y-" + m.hex(32),
    "mailchimp key": lambda m: m.hex(32) + "-u" + "s14",
    "brevo key": lambda m: "xkey" + "sib-" + m.hex(64) + "-" + m.alnum(16),
    "linear key": lambda m: "lin" + "_api_" + m.alnum(40),
    "notion token": lambda m: "nt" + "n_" + m.some(DIGITS, 11) + m.alnum(35),
    "airtable token": lambda m: "pa" + "t" + m.alnum(14) + "." + m.hex(64),
    "figma token": lambda m: "fig" + "d_" + m.safe(40),
    "hubspot token": lambda m: "pa" + "t-na1-" + m.uuid(),
    "typeform token": lambda m: "tf" + "p_" + m.alnum(44) + "_" + m.alnum(14),
    "contentful token": lambda m: "CF" + "PAT-" + m.safe(43),
    "facebook token": lambda m: "EA" + "AC" + m.alnum(180),
    "stripe key": lambda m: "sk" + "_live_" + m.alnum(24),
    "stripe restricted key": lambda m: "rk" + "_live_" + m.alnum(99),
    "stripe webhook secret": lambda m: "wh" + "sec_" + m.alnum(32),
    "square token": lambda m: "EA" + "AA" + m.safe(60),
    "square secret": lambda m: "sq0" + "csp-" + m.safe(43),
    "shopify token": lambda m: "shp" + "at_" + m.hex(32),
    "shopify secret": lambda m: "shp" + "ss_" + m.hex(32),
    "braintree token": lambda m: "access_token" + "$production$" + m.some(LOWER + DIGITS, 16) + "$" + m.hex(32),
    "razorpay key": lambda m: "rz" + "p_live_" + m.alnum(14),
    "easypost key": lambda m: "EZ" + "AK" + m.alnum(54),
    "grafana token": lambda m: "gl" + "sa_" + m.alnum(32) + "_" + m.hex(8),
    "sentry token": lambda m: "sn" + "tryu_" + m.hex(64),
    "new relic key": lambda m: "NR" + "AK-" + m.some(UPPER + DIGITS, 27),
    "dynatrace token": lambda m: "dt0" + "c01." + m.some(UPPER + DIGITS, 24) + "." + m.some(UPPER + DIGITS, 64),
    "age key": lambda m: "AGE-SECRET" + "-KEY-1" + m.some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "json web token": lambda m: ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"HS256","typ":"JWT"}', json.dumps({"sub": m.hex(8), "iat": 1700000000}).encode(), m.random.randbytes(32))
    ),
}  # fmt: skip

AROUND: dict[str, str] = {
    "shell": "$ export SERVICE={0} && ./deploy --env prod\nDeploying to prod ...\n",
    "shell argument": "ada@host:~/shop$ deploy-tool publish --with '{0}' --dry-run\nok\n",
    "json": '{{\n  "id": 7,\n  "value": "{0}",\n  "ok": true\n}}\n',
    "json in json": '{{"type":"tool","content":"{{\\"id\\":7,\\"value\\":\\"{0}\\",\\"ok\\":true}}"}}\n',
    "yaml": "service:\n  name: shop\n  value: {0}\n  retries: 3\n",
    "log": "2024-05-01T12:00:00.123Z INFO  http.client request id=42 using {0} (attempt 1)\n",
    "diff": "@@ -1,3 +1,3 @@\n x = 1\n-VALUE = '{0}'\n+VALUE = read()\n y = 2\n",
    "diff added": "@@ -1,3 +1,3 @@\n x = 1\n+VALUE: {0}\n y = 2\n",
    "url": "GET https://example.org/api/v2/items?page=2&with={0}&sort=asc HTTP/1.1\n",
    "code": 'client = Client("{0}", timeout=5)\n',
    "sentence": "Please use {0}, it is the one for staging.\n",
    "header": "> X-Thing: {0}\n> Accept: */*\n",
    "call": "connect({0})\n",
    "table": "| name | value |\n|---|---|\n| shop | {0} |\n",
    "end": "the last word is {0}",
}
NOT_IN_ADDRESSES = {
    "google refresh token",
    "slack webhook",
    "discord webhook",
    "teams webhook",
    "fly.io token",
    "aws bedrock key",
}


def _own_shapes(make: Maker) -> Iterator[Planted]:
    places = list(AROUND.items())
    for number, (kind, token) in enumerate(TOKENS.items()):
        for step in range(4):
            name, around = places[(number * 4 + step + number // len(places)) % len(places)]
            if name == "url" and kind in NOT_IN_ADDRESSES:
                name, around = "sentence", AROUND["sentence"]
            secret = token(make)
            yield Planted(kind, name, _secret_part(kind, secret), around.format(secret))


def _secret_part(kind: str, secret: str) -> str:
    """Return what of a token is secret: what stands before it may stand anywhere."""
    before = {
        "slack webhook": "/",
        "discord webhook": "/",
        "braintree token": "$",
        "teams webhook": "/IncomingWebhook/",
    }.get(kind)
    return secret.rpartition(before)[2] if before else secret


WRAPS: dict[str, Callable[[str, int], str]] = {
    "terminal": lambda text, column: (
        "\n".join(textwrap.wrap(text, column, break_on_hyphens=False, drop_whitespace=False, break_long_words=True))
        if column
        else text
    ),
    "backslash": lambda text, column: text[:column] + "\\\n" + text[column:],
    "backslash and indent": lambda text, column: text[:column] + "\\\n    " + text[column:],
    "quoted-printable": lambda text, column: text[:column] + "=\n" + text[column:],
    "indent": lambda text, column: text[:column] + "\n    " + text[column:],
    "diff": lambda text, column: "+" + text[:column] + "\n+" + text[column:],
    "carriage return": lambda text, column: text[:column] + "\r\n" + text[column:],
    "json line end": lambda text, column: json.dumps({"text": text[:column] + "\n" + text[column:]}),
}


def _wrapped(make: Maker) -> Iterator[Planted]:
    kinds = list(TOKENS)
    for number, (name, wrap) in enumerate(WRAPS.items()):
        for step in range(14):
            kind = kinds[(number * 14 + step * 5) % len(kinds)]
            if kind in {"slack webhook", "discord webhook", "teams webhook"}:
                kind = "github token"
            secret = TOKENS[kind](make)
            before = "ada@host:~/shop$ SERVICE="
            column = len(before) + make.random.randint(4, max(5, min(len(secret) - 4, 70)))
            yield Planted(
                kind,
                f"wrapped: {name}",
                _secret_part(kind, secret),
                wrap(f"{before}{secret} && make deploy", column) + "\nDeploying to prod\n",
            )


def _hard_wrapped(make: Maker) -> Iterator[Planted]:
    """A terminal breaks in the middle of anything that is longer than its line."""
    for width in (40, 72, 80, 100, 120):
        for kind in ("json web token", "anthropic key", "vault token", "openai key", "google access token"):
            secret = TOKENS[kind](make)
            line = f"$ curl -H 'Authorization: Bearer {secret}' https://api.example.org/v1/items"
            yield Planted(
                kind,
                f"wrapped at {width}",
                secret,
                "\n".join(line[at : at + width] for at in range(0, len(line), width)) + "\nHTTP/2 200\n",
            )


PASSWORDS = (
    "hunter2",
    "S3cr3t!pass",
    "correct-horse-battery",
    "Tr0ub4dor&3",
    "p@ssw0rd99x",
    "xK9#mQ2$vL5",
    "winterberg",
    "lighthouse77",
    "8djkXw02ls",
    "zmxncbv1029",
)
NAMED: dict[str, str] = {
    "connection string, Password": "Server=tcp:db.example.org,1433;Database=shop;User ID=ada;Password={0};Encrypt=True;",
    "connection string, Pwd": "Driver={{ODBC Driver 18}};Server=db;Uid=ada;Pwd={0};",
    "connection string, PWD": 'conn = "DSN=shop;UID=ada;PWD={0}"',
    "connection string in JSON": '{{"ConnectionStrings": {{"Shop": "Data Source=db;Initial Catalog=shop;User Id=ada;Password={0};"}}}}',
    "libpq": "host=db.example.org port=5432 dbname=shop user=ada password={0} sslmode=require",
    "jdbc": "jdbc:postgresql://db.example.org/shop?user=ada&password={0}&ssl=true",
    "postgres address": "DATABASE_URL=postgresql://ada:{0}@db.example.org:5432/shop",
    "mongodb address": "mongodb+srv://ada:{0}@cluster0.example.net/?retryWrites=true",
    "redis address": "redis://:{0}@cache:6379/0",
    "amqp address": "broker_url: amqp://shop:{0}@mq:5672//",
    "git address": "git clone https://ada:{0}@git.example.org/shop.git",
    "option --password": "$ login-tool --user ada --password {0} --host db",
    "option --password=": "$ login-tool --user=ada --password={0}",
    "option quoted": "$ login-tool --user ada --password '{0}' && echo done",
    "option --passphrase": "$ gpg --batch --passphrase {0} -d shop.gpg",
    "mysql -p": "$ mysql -h db -u ada -p{0} shop < dump.sql",
    "mysqldump -p": "mysqldump --single-transaction -uada -p'{0}' shop | gzip",
    "curl -u": "$ curl -s -u ada:{0} https://example.org/api",
    "curl --user": '$ curl --user "ada:{0}" -X POST https://example.org/api',
    "wget": "$ wget --http-user=ada --http-password={0} https://example.org/f",
    "sshpass": "sshpass -p {0} ssh ada@host uptime",
    "docker login": "docker login registry.example.org -u ada -p {0}",
    "redis-cli": "redis-cli -h cache -a {0} ping",
    "openssl": "openssl enc -d -aes-256-cbc -in f -pass pass:{0}",
    "echo to stdin": "echo {0} | docker login -u ada --password-stdin",
    "echo to sudo": "echo '{0}' | sudo -S apt install -y jq",
    "chpasswd": "echo ada:{0} | chpasswd",
    "PGPASSWORD": "PGPASSWORD={0} psql -h db -U ada shop",
    "MYSQL_PWD": "MYSQL_PWD={0} mysqladmin status",
    ".netrc": "machine git.example.org login ada password {0}",
    ".netrc lines": "machine git.example.org\n  login ada\n  password {0}\n",
    ".env": "APP_ENV=prod\nDB_PASSWORD={0}\nDB_HOST=db\n",
    ".env, quoted": 'APP_ENV=prod\nDB_PASS="{0}"\nDB_HOST=db\n',
    "diff of .env": "@@ -1,2 +1,2 @@\n APP_ENV=prod\n-DB_PASSWORD={0}\n+DB_PASSWORD=${{DB_PASSWORD}}\n",
    "yaml": "database:\n  user: ada\n  password: {0}\n  port: 5432\n",
    "yaml, quoted": "database:\n  user: ada\n  password: '{0}'\n",
    "yaml, alone": "password: {0}",
    "compose": "services:\n  db:\n    environment:\n      POSTGRES_USER: ada\n      POSTGRES_PASSWORD: {0}\n",
    "properties": "spring.datasource.username=ada\nspring.datasource.password={0}\nspring.jpa.show-sql=true\n",
    "ini": "[client]\nuser = ada\npassword = '{0}'\n",
    "json": '{{"user": "ada", "password": "{0}", "port": 5432}}',
    "json in json": '{{"body": "{{\\"user\\": \\"ada\\", \\"password\\": \\"{0}\\"}}"}}',
    "json in json in json": '{{"log": "{{\\"body\\": \\"{{\\\\\\"password\\\\\\": \\\\\\"{0}\\\\\\"}}\\"}}"}}',
    "xml": "<server>\n  <id>shop</id>\n  <username>ada</username>\n  <password>{0}</password>\n</server>",
    "nuget": '<add key="ClearTextPassword" value="{0}" />',
    "python": 'connect(host="db", user="ada", password="{0}")',
    "java": 'ds.setPassword("{0}");',
    "ruby": "config.password = '{0}'",
    "go": 'cfg := Config{{User: "ada", Password: "{0}"}}',
    "typed": 'password: str = "{0}"',
    "passphrase": "passphrase: {0}",
    "passphrase, quoted": 'ssh_key_passphrase = "{0}"',
    "form": "curl -d 'username=ada&password={0}' https://example.org/login",
    "query": "GET /login?user=ada&password={0} HTTP/1.1",
    "log of a request": '10.0.0.7 - - [01/May/2024] "POST /login?passwd={0}&next=/ HTTP/1.1" 302',
}
KEYS: dict[str, str] = {
    "AccountKey": "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={b64};EndpointSuffix=core.windows.net",
    "SharedAccessKey": "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b44}",
    "ENCRYPTION_KEY": "APP=shop\nENCRYPTION_KEY={hex}\nDEBUG=0\n",
    "SECRET_KEY_BASE": "SECRET_KEY_BASE={hex}",
    "aws secret": "aws_secret_access_key = {aws}",
    "aws secret, environment": "export AWS_SECRET_ACCESS_KEY={aws}",
    "aws secret, json": '{{"AccessKeyId": "x", "SecretAccessKey": "{aws}"}}',
    "aws session": 'AWS_SESSION_TOKEN="{long}"',
    "client_secret": "client_secret: {hex}",
    "api_key": '"api_key": "{hex}"',
    "x-api-key": "curl -H 'X-Api-Key: {alnum}' https://example.org",
    "private-token": "curl --header 'PRIVATE-TOKEN: {alnum}' https://git.example.org",
    "bearer": "Authorization: Bearer {alnum}",
    "token header": "Authorization: Token {hex}",
    "--token": "deploy --token {alnum} --yes",
    "--api-key": "deploy --api-key={hex}",
    "?api_key": "https://example.org/v1/weather?city=Ulm&api_key={hex}",
    "?access_token": "https://example.org/v1/me?access_token={alnum}&x=1",
    "npmrc": "//registry.example.org/:_authToken={alnum}",
    "cookie": "Cookie: theme=dark; sessionid={alnum}",
    "xml token": "<apiKey>{hex}</apiKey>",
    "wireguard": "[Interface]\nPrivateKey = {b44}\nAddress = 10.0.0.2/32",
    "jwt secret": 'JWT_SECRET="{alnum}"',
    "signing key": "signingKey: '{hex}'",
    "datadog": "DD_API_KEY={hex}",
    "heroku": 'HEROKU_API_KEY: "{uuid}"',
    "kubernetes": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  url: {enc}\n  other: {enc2}\n",
    "azure signature": "https://shop.blob.core.windows.net/c/f?sv=2022-11-02&sig={sig}&se=2030",
    "otp": "otpauth://totp/Shop:ada?secret={base32}&issuer=Shop",
    "token in an address": "git push https://{alnum}@git.example.org/shop.git",
    "my token": "the api key is {alnum}, use it for staging",
}
PHRASES = {
    "yaml, a word": ("user: ada\npassword: horse\nhost: db\n", "horse"),
    "a word alone": ("password: horse", "horse"),
    "a phrase": ("passphrase: correct horse battery staple", "correct horse battery staple"),
    "a quoted phrase": ('passphrase = "correct horse battery staple"', "correct horse battery staple"),
    "sentence": ("my password is hunter2, try it", "hunter2"),
    "a password with signs": ("password: a(b)c{9}d", "a(b)c{9}d"),
    "pair with a word": ("Server=db;Uid=ada;Password=horse;", "horse"),
    "set to a word": ("DB_PASSWORD=horse", "horse"),
    "xml, a word": ("<password>horse</password>", "horse"),
    "option, a word": ("tool --password horse", "horse"),
}


def _named(make: Maker) -> Iterator[Planted]:
    for number, (name, around) in enumerate(NAMED.items()):
        for step in range(2):
            secret = PASSWORDS[(number * 3 + step * 7) % len(PASSWORDS)]
            if any(sign in secret for sign in "&#$@!") and name not in {
                "json",
                "yaml, quoted",
                "python",
                "xml",
                "java",
                "option quoted",
                "json in json",
            }:
                secret = "hunter2" if step else "lighthouse77"
            yield Planted(name, "named", secret, around.format(secret))
    for name, around in KEYS.items():
        parts = {
            "b64": make.b64(64), "b44": make.b64(32), "hex": make.hex(64), "aws": make.some(ALNUM + "/+", 40), "alnum": make.alnum(32),
            "long": make.b64(200), "uuid": make.uuid(), "enc": base64.b64encode(b"horse").decode(), "enc2": make.b64(24),
            "sig": make.b64(32).replace("+", "%2B").replace("=", "%3D"), "base32": make.some(UPPER + "234567", 32),
        }  # fmt: skip
        for part in [one for one in parts if "{" + one + "}" in around]:
            yield Planted(name, "named", parts[part], around.format(**parts))
    for name, (text, secret) in PHRASES.items():
        yield Planted(name, "named", secret, text)


def key_block(make: Maker, name: str, lines: int = 12) -> str:
    """Return a private key's block, with 64 characters a line."""
    body = make.b64(lines * 48 - 11)
    extra = "\nVersion: GnuPG v2\n" if "PGP" in name else ""
    end = "\n=" + make.b64(3) if "PGP" in name else ""
    return (
        f"-----BEGIN {name}-----{extra}\n" + "\n".join(textwrap.wrap(body, 64)) + end + "\n-----" + f"END {name}-----"
    )


BLOCKS = (
    "RSA PRIVATE " + "KEY",
    "PRIVATE " + "KEY",
    "EC PRIVATE " + "KEY",
    "OPENSSH PRIVATE " + "KEY",
    "ENCRYPTED PRIVATE " + "KEY",
    "PGP PRIVATE " + "KEY BLOCK",
)
BLOCK_PLACES: dict[str, Callable[[str], str]] = {
    "plain": lambda key: f"here it is:\n{key}\nand more\n",
    "yaml": lambda key: "tls:\n  key: |\n" + textwrap.indent(key, "    ") + "\n  port: 443\n",
    "json": lambda key: json.dumps({"type": "service_account", "private_key": key + "\n", "client_id": "1"}),
    "json in json": lambda key: json.dumps({"text": json.dumps({"private_key": key + "\n"})}),
    "diff": lambda key: "@@ -0,0 +1,9 @@\n" + "".join(f"+{line}\n" for line in key.split("\n")) + " x = 1\n",
    "diff removed": lambda key: "@@ -1,9 +0,0 @@\n" + "".join(f"-{line}\n" for line in key.split("\n")) + " x = 1\n",
    "lower part": lambda key: "@@ -7,4 +7,4 @@\n" + "".join(f" {line}\n" for line in key.split("\n")[4:]) + "+y = 1\n",
    "upper part": lambda key: key[: len(key) // 2],
    "python": lambda key: "KEY = (\n" + "".join(f'    "{line}\\n"\n' for line in key.split("\n")) + ")\n",
    "carriage return": lambda key: key.replace("\n", "\r\n") + "\r\nok\r\n",
    "base64": lambda key: "tls.key: " + base64.b64encode(key.encode()).decode(),
}


def _blocks(make: Maker) -> Iterator[Planted]:
    for number, (place, put) in enumerate(BLOCK_PLACES.items()):
        for step in range(3):
            name = BLOCKS[(number + step * 2) % len(BLOCKS)]
            key = key_block(make, name)
            if place == "base64":
                yield Planted(name.lower(), place, base64.b64encode(key.encode()).decode(), put(key))
            body = "".join(line for line in key.split("\n") if len(line) >= 60)
            yield Planted(name.lower(), place, body, put(key))
    putty = (
        "PuTTY-User-Key"
        "-File-3: ssh-ed25519\nEncryption: none\nComment: ada\nPublic-Lines: 2\n{0}\nPrivate-Lines: 1\n{1}\nPrivate-MAC: {2}\n"
    )
    private = make.b64(36)
    yield Planted(
        "putty private key", "plain", private, putty.format(make.b64(48) + "\n" + make.b64(15), private, make.hex(64))
    )


def _encoded(make: Maker) -> Iterator[Planted]:
    inside = (
        '{{"user": "ada", "password": "{0}"}}',
        "DB_HOST=db\nDB_PASSWORD={0}\n",
        "postgres://ada:{0}@db/shop",
        "machine h login ada password {0}",
    )
    outside = (
        "data:\n  config: {0}\n",
        "$ echo {0} | base64 -d > .env",
        'blob = "{0}"',
        "https://example.org/load/{0}?x=1",
        "X-Config: {0}",
        "config/{0}",
    )
    for number, text in enumerate(inside * 3):
        secret = make.alnum(20)
        held = base64.b64encode(text.format(secret).encode()).decode()
        if number % 4 == 1:
            held = base64.b64encode(held.encode()).decode()
        around = outside[number % len(outside)]
        yield Planted("base64", f"encoded {number}", held, around.format(held))
    for kind in ("github token", "slack bot token", "stripe key", "aws access key", "anthropic key"):
        secret = TOKENS[kind](make)
        held = base64.b64encode(f"key: {secret}\n".encode()).decode()
        yield Planted(kind, "base64", held, f"apiVersion: v1\ndata:\n  settings: {held}\n")
        wrapped = "\n".join(
            textwrap.wrap(
                base64.b64encode(f"user: ada\nkey: {secret}\nhost: db.example.org\n".encode() * 2).decode(), 64
            )
        )
        yield Planted(
            kind,
            "base64, wrapped",
            "".join(wrapped.split()),
            f"Content-Transfer-Encoding: base64\n\n{wrapped}\n\n--end\n",
        )


def corpus(seed: int = 7) -> list[Planted]:
    """Return all planted secrets."""
    make = Maker(seed)
    made = (_own_shapes, _wrapped, _hard_wrapped, _named, _blocks, _encoded)
    return [planted for part in made for planted in part(make)]
