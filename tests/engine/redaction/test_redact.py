"""Secrets leave, and nothing else does."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.platform.redaction.assignments import NAMES
from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.kinds import KINDS, SHAPES
from cm_tui.engine.platform.redaction.places import PLACES, find_places
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from tests.engine.redaction.corpus import corpus

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "aws access key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "github token": "ghp_" + "a1B2" * 9,
    "gitlab token": "glpat-" + "x1" * 10,
    "slack token": "xoxb-" + "1234567890-abc",
    "api key": "sk-" + "proj-abcdefghijklmnopqrst",
    "google api key": "AIza" + "a" * 35,
    "npm token": "npm_" + "a" * 36,
    "hugging face token": "hf_" + "aBcD" * 9,
    "pypi token": "pypi-" + "AgEIcHlw" * 8,
    "json web token": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0" + ".abcdefghijkl",
}


@pytest.mark.parametrize(("what", "secret"), list(SECRETS.items()))
def test_known_shapes(what: str, secret: str):
    clean = redact(f"use {secret} for it")
    assert secret not in clean.text
    assert clean.text.startswith("use [redacted: ")
    assert clean.text.endswith(" for it")
    assert what in clean.text
    assert clean.secrets >= 1


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://ada:hunter2@db/shop", "hunter2"),
        ("curl -H 'Authorization: Bearer abcdefghijklmnop1234'", "abcdefghijklmnop1234"),
        ("PASSWORD='hunter2!'", "hunter2!"),
        ('"api_key": "0123456789abcdef"', "0123456789abcdef"),
        ("+DB_PASSWORD=hunter2hunter2\n", "hunter2hunter2"),
        ("client_secret: abc123def456ghi7", "abc123def456ghi7"),
        ("DB_PASSWORD=correcthorsebattery", "correcthorsebattery"),
        ("+export DB_PASSWORD=hunter2\n", "hunter2"),
        ("docker run -e POSTGRES_PASSWORD=correct-horse img", "correct-horse"),
        ('"password": "two words 12"', "two words 12"),
        ("password = 'it is \\'quoted\\' 12'", "quoted"),
        ('{\\"password\\": \\"hunter2!\\"}', "hunter2!"),
        ('password: str = "hunter2!"', "hunter2!"),
        ("curl -d 'password=hunter2hunter2' x", "hunter2hunter2"),
        ("my password is S3cretPassw0rd!", "S3cretPassw0rd!"),
        ("My password for the staging shop is hunter2, try it", "hunter2"),
        ("the token is: `A1b2C3d4e5`", "A1b2C3d4e5"),
        ('token: "' + "a1" * 3_000 + '"', "a1a1"),
        ("token=" + "a1" * 3_000, "a1a1"),
        ('password = "the end is cut 12', "is cut 12"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\nthe end is cut off", "MIIE"),
    ],
)
def test_where_secrets_stand(text: str, secret: str):
    clean = redact(text)
    assert secret not in clean.text
    assert "[redacted: " in clean.text


@pytest.mark.parametrize(
    "text",
    [
        "def check(password: str) -> bool:",
        "token = next_token(stream)",
        "token = self._reader.token",
        "api_key = os.environ['OPENAI_API_KEY']",
        "https://example.org/a:b/c@d",
        "the password is wrong",
        "tokens: 2000",
        "max_tokens=4096",
        "sketch the sk-learn pipeline",
        "ghost",
        "secret = None",
        "password = get_password()",
        "password = get_password2(account, 12)",
        "token: str",
        "password: str | None = None",
        "login(user=user, password=password)",
        "SECRET_KEY: str",
        'api_key_env: str = "OPENAI_API_KEY"',
        "API_KEY=process.env.API_KEY",
        "TOKEN=OTHER_TOKEN",
        "TOKEN_URL=https://example.org/token1",
        "PASSWORD_FILE=/run/secrets/db",
        "MAX_TOKENS=unlimited",
        "if token == other:",
        '"password": "Enter your password"',
        '"password_help": "At least 8 characters"',
        "the token is base64 and the secret is sha256-hashed",
        "my password is wrong, my token is not there",
        "what the password is and what it was",
        # Hashes, ids and digests: no name says that they are secret.
        "commit 3f786850e387550fdab836ed7e6dc881de23001b\nAuthor: Ada",
        "id: 123e4567-e89b-42d3-a456-426614174000",
        '"integrity": "sha512-WFMc2vC0kFQWkvWqwCbPqOVkUnmCSmLvEbnYeXVqPYBIhxNJdjkXkTMBqbkVoK1TkAuEBBOkrJDMNBHq0k3WgA=="',
        "image: redis@sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64",
        "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64  file.tar.gz",
        'etag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4"',
        # Types, names and references.
        "password: str",
        "password: string;",
        "password=password",
        "self.password = password",
        "this.password = password;",
        "token: Token",
        "token: CancellationToken",
        "password: SecretStr",
        "password: Optional[str] = None",
        'api_key=os.environ["X"]',
        "apiKey: process.env.API_KEY,",
        "password = ${PASSWORD}",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password: {{ db_password }}",
        'password="$DB_PASSWORD"',
        "password = var.db_password",
        "--password $DB_PASSWORD",
        "mysql -p$DB_PASSWORD",
        "curl -u $USER:$PASSWORD https://example.org",
        "https://${USER}:${PASSWORD}@example.org",
        # Placeholders of documentation.
        "<password>",
        "password: <password>",
        "password: ****",
        "password: ********",
        "password: changeme",
        "PASSWORD=changeme",
        "password=your-password-here",
        "API_KEY=your_api_key_here",
        'api_key = "YOUR_API_KEY"',
        "postgres://user:password@localhost/db",
        "https://username:token@example.org",
        "<password>${db.password}</password>",
        "password: xxxxxxxx",
        'password: ""',
        "password: null",
        "password: true",
        # Code that speaks of secrets.
        "publicKeyToken=b77a5c561934e089",
        "if (password === confirmPassword) {",
        "const { token, secret } = options;",
        "assert token.kind == 'NAME'",
        "tokens = tokenizer.encode(text)",
        "secretName: shop-tls",
        "primary_key=True",
        "cache_key = f'{user.id}:{page}'",
        "key: value",
        "def verify(token, secret): ...",
        'if line.startswith("-----BEGIN PRIVATE " + "KEY-----"):\n    return line',
        "Add the --password option to the login command",
        "  --password string   password of the registry",
        "Basic authentication is used, or Bearer authentication",
        "the Authorization: Bearer header",
        "docker run -p 8080:80 mongo",
        "PWD=/home/ada/shop",
        "refreshTokenContext = OAuth2AuthorizationContext",
        "emptyPassword=\\u7528\\u6237\\u540d",
        "ansible-playbook --ask-vault-pass site.yml",
        "if self.update_password == 'always':",
        "data_salt: 7\ndata1_password: $X\n",
        "password: debug3: receive packet: type 50",
        "SecurePassword::Argon2Password",
        "token = Base64.urlsafe_encode64(text)",
        "user.authenticate_password('notright')",
        "cd $PWD && ls",
        "kind: ConfigMap\ndata:\n  url: https://example.org\n",
        "slack.com/services/overview",
        "sk-learn-contrib-something-long-name",
        "cron-task-main-knowledge-nightly-lint-1782113953214",
        "mask-ant-design-pro-components-2024",
        "risk-proj-plan-for-the-second-half-of-2024-and-later",
        "fn category_id_is_unrecognised_not_silently_mapped",
        "disk_test_temporarydirectory2",
        "CAUCASIANLANGUAGESANDOTHERS",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAP0ZGVE0cGnIbgd5IHMseBmAAhy4RCAqC3EiCg2cLiQYAATYCJAO",
        "sha512-YWWTjgABSKcvs/nWBi9PycY/JiPJqOD4JA6o9Sej2AtvSGarXxKC3OQSk4pAarbdQlKAh5D4FCQkJNkW+GAn3w==",
        "h1:WxHoqTgW2S2qGc0LTAI563KZ5YKYRhT3MFKZMbjag=",
        "shelf_aMethodWithAVeryLongNameInCamelCaseOfJava",
        r"href=\/\/example.org\/a &quot;password&quot; &amp; co",
    ],
)
def test_ordinary_code_stays(text: str):
    assert redact(text) == (text, 0)


@SLOW
@given(st.text(max_size=400))
def test_what_was_redacted_stays_so(text: str):
    clean = redact(text)
    assert redact(clean.text) == (clean.text, 0)
    assert clean.text.count("\n") == text.count("\n")


PARTS = (
    "token", "password", "my password is ", "TOKEN", "secret=", "api_key: ", "eyJ", "eyJaaaaaaaaa", "ghp_", "sk-", "AIza",
    "xoxb-", "hf_", "Bearer ", "://", "@", ":", "=", '"', "'", "\\", ".", "-", "_", " ", "\n", "a1B2c3D4e5F6g7H8i9J0",
    "correcthorsebattery", "[redacted: token]", "-----BEGIN ", "PRIVATE KEY-----", "-----END ",
    "\\\n", "=\n", "\n    ", "\n+", "\\n", "<password>", "</", "--password ", "curl -u a:", "mysql -p", "machine h login a ",
    "Password=", ";", "Server=", "?token=", "kind: Secret\n", "data:\n  a: ", "cGFzc3dvcmQ6IGh1bnRlcjIK", "KEY=", "hunter2",
    "AKIA" + "ABCDEFGHIJKLMNOP", "ghp_" + "a1B2" * 9, "SG.", "hvs.",
)  # fmt: skip


@SLOW
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=4), max_size=40).map("".join))
def test_what_is_made_of_secrets_stays_redacted_and_counts(text: str):
    clean = redact(text)
    assert clean.text.count("[redacted: ") >= clean.secrets
    assert (clean.secrets == 0) == (clean.text == text)
    assert redact(clean.text) == (clean.text, 0)
    assert clean.text.count("\n") == text.count("\n")


@SLOW
@given(
    st.sampled_from([*SECRETS.values(), 'password = "two words 12"', "token=" + "a1" * 20, "://ada:hunter2@"]),
    st.integers(0, 80),
)
def test_a_secret_at_the_cut_is_gone_whole(secret: str, before: int):
    text = "x " * 50 + secret + " y" * BEYOND
    limit = 100 + before
    clean = redact(text[: limit + BEYOND], limit)
    assert len(clean.text) <= limit
    whole = redact(text).text
    assert clean.text == whole[: len(clean.text)]


RUNS = (
    "a", "A", "1", "0f3d", "-", "_", " ", "\n", "'", '"', "\\", "=", ":", "/", "@", ".", "+",
    "token", "token=", "token='", 'token="', 'token=\\"', "token: ", "token:a=", "TOKEN=", "TOKEN=a.", "TOKEN_1", "passw",
    "password ", "my password is ", "password a b c d e f ", "secret1=", "api_key", "access_key", "credential:",
    "eyJ", "eyJa-", "eyJaaaaaaaa.", "sk-", "ghp_", "github_pat_", "glpat-", "xoxb-", "AIza", "AKIA", "npm_", "hf_", "pypi-",
    "://", "://a", "://a:", "Bearer ", "Basic a", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----END ",
    "=\n", "\\\n", "a\n", "a1\n  ", "+a\n", "a\\n", "MIIE\n", "A1b2" * 16 + "\n", "-----BEGIN PRIVATE KEY-----\nMIIE", "\n-----END PRIVATE KEY-----",
    "<password>", "<password ", "</", "--password ", "curl -u a:", "curl ", "mysql -p", "machine h login a ", "login a\n", "Password=", ";Pwd=", "Server=a;",
    "?token=", "&password=", "kind: Secret\n", "kind: Secret\ndata:\n  a: ", "data:\n", "  a: b\n", "cGFzc3dvcmQ6", "PuTTY-User-Key-File-3: ", "echo a|",
    "password:\n", "password: |\n  ", "passphrase a b c ", "cookie: a=b;", "authorization: ", "key=", "a-key: ",
    "\x1b[", "\x1b[0m", "\x1b]", "\\e]a", "\u200b", "\\n1", "%20", "\\u0041", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\n1 " + "A1b2" * 16 + "\n",
    "password=Winter77 ", "kind: Secret\n---\n", "salt=(", "[redacted: token]", "[redacted",
)  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("run", RUNS)
def test_time_grows_with_the_length_and_no_faster(run: str):
    def seconds(size: int) -> float:
        text = (run * size)[:size]
        # A trigger in front, so that rules are tried; at the end what a match would need, or what prevents one.
        texts = [f"token {text} is", f"PRIVATE KEY password='{text}", f"secret={text}(", f"{text}@"]
        return shortest(texts, 3)

    seconds(100)
    # Eight times the length: 8 times as long when linear, 64 times when not.
    assert seconds(32_000) < 32 * max(seconds(4_000), 0.001)


def shortest(texts: list[str], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        begun = time.thread_time()
        for one in texts:
            redact(one)
        taken.append(time.thread_time() - begun)
    return min(taken)


WORDS = sorted({word for rule in (*SHAPES, *PLACES) for word in rule.words} | set(NAMES))
PIECES = ("", "a1", "-", "_", ".", "/", " ", "=", ":", '"', "a1B2c3D4" * 8)


@pytest.mark.deep
@pytest.mark.parametrize("piece", PIECES)
def test_near_misses_of_every_pattern_take_no_longer_than_their_length(piece: str):
    slow = []
    for word in WORDS:
        run = word + piece

        def seconds(size: int, rounds: int, run: str = run) -> float:
            return shortest([(run * (size // len(run) + 1))[:size] + "!"], rounds)

        short, long = seconds(1_500, 2), seconds(12_000, 2)
        # Other work on the machine makes some rounds slower, not all of them.
        if long > 24 * max(short, 0.001) and all(seconds(24_000, 1) > 3.2 * seconds(12_000, 1) for _ in range(20)):
            slow.append(word)
    assert slow == []


@pytest.mark.parametrize(
    "piece", ["a", "A", "aB", "x", "*", "x*", "ab ", "a.", "a-", "a->", "a_", "1a", "your", "a/", "\\"]
)
def test_a_value_that_nearly_is_a_name_or_a_filler_is_done_at_once(piece: str):
    # Were one of the patterns to try all ways to divide it, none of these would come back.
    for before in ("password: ", 'password = "', "PASSWORD=", "--password ", "my token is ", "<password>", "://a:"):
        for after in ("\u20ac1", "!", "(1", "\u20ac"):
            redact(before + piece * 180 + after + "@")


def test_documents_of_kubernetes_are_looked_through_once():
    # A search to the end for each of them would take hours on this text.
    text = "kind: Secret\n" * 200_000
    assert list(find_places(text, text.lower())) == []


ESCAPES = {
    "as a file has them": ("\x1b[31m", "\x1b[0m"),
    "as JSON has them": ("\\u001b[1;32m", "\\u001b[0m"),
    "as a shell has them": ("\\033[1m", "\\e[0m"),
    "an address": ("\x1b]8;;https://example.org\x07", "\x1b]8;;\x07"),
    "no sign at all": ("\u200b", "\ufeff"),
    "a line end, written": ("Cloning...\\n", "\\ndone"),
    "percent signs": ("x%3D", "%26y"),
    "code points": ("x\\u003d", "\\u0026y"),
    "entities": ("a=&quot;", "&quot; b"),
    "hidden signs": ("\u2062", "\U000e0020"),
}


@pytest.mark.parametrize("around", ESCAPES)
@pytest.mark.parametrize(("what", "secret"), list(SECRETS.items()))
def test_a_secret_between_what_is_not_read(around: str, what: str, secret: str):
    before, after = ESCAPES[around]
    clean = redact(f"ok\n{before}{secret}{after}\nok")
    assert secret not in clean.text
    assert clean.text.startswith(f"ok\n{before}[redacted: ")
    assert clean.text.endswith(f"]{after}\nok")


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mpassword\x1b[0m=\x1b[33mWinter-qx7-9\x1b[0m",
        "password\u200b: Winter-qx7-9",
        "password:\u00a0Winter-qx7-9",
        "password\uff1aWinter-qx7-9",
        "%7B%22password%22%3A%22Winter-qx7-9%22%7D",
        "<div data-config='{&quot;password&quot;:&quot;Winter-qx7-9&quot;}'>",
        r'{"db":"postgres:\/\/shop:Winter-qx7-9@db.example.org\/shop"}',
        "password\u00ad: Winter-qx7-9",
        "a\n\x1b[32m+DB_PASSWORD=Winter-qx7-9\x1b[0m\n",
    ],
)
def test_an_assignment_between_what_is_not_read(text: str):
    assert "Winter-qx7-9" not in redact(text).text


KEY_LINE = "MIIEowIBAAKCAQEAabcdef0123456789+/qwertyuiopASDFGHJKLzxcvbnm0987"


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize(
    "before",
    ["    1\t", "    1\u2192", "2026-01-01T10:00:00Z ", "app_1  | ", "key.pem:7:", "\x1b[32m", "[12:00:01] out: "],
)
def test_a_private_key_behind_something(before: str, end: bool):
    name = "RSA PRIVATE " + "KEY"
    lines = [f"-----BEGIN {name}-----", KEY_LINE, KEY_LINE[::-1], *([f"-----END {name}-----"] if end else [])]
    text = "x\n" + "\n".join(before + line for line in lines) + "\nand it follows\n"
    clean = redact(text)
    assert not any(line in clean.text for line in lines[1:])
    assert clean.text.count("\n") == text.count("\n")
    assert clean.text.startswith("x\n")
    assert clean.text.endswith("\nand it follows\n")


def test_code_that_names_both_ends_of_a_key_stays():
    name = "PRIVATE " + "KEY"
    text = f"BEGIN = '-----BEGIN {name}-----'\n\ndef read(path):\n    return path\n\nEND = '-----END {name}-----'\n"
    assert redact(text) == (text, 0)


def test_a_mark_hides_nothing():
    hidden = "htklhzzvzz5vwlj870si"
    assert hidden not in redact(f"password='[redacted: {hidden}]'").text
    assert redact("password='[redacted: password]'").secrets == 0
    assert redact("password='[redacted: passw").secrets == 0


def test_every_kind_that_is_found_is_one_of_a_mark():
    assert {rule.kind for rule in (*SHAPES, *PLACES)} <= set(KINDS)
    assert {one.kind for planted in corpus() for one in find(planted.text)} <= set(KINDS)


def test_what_was_found_once_leaves_wherever_it_stands():
    secret = "Winter" + "bird77!"
    clean = redact(f"DB_PASSWORD={secret}\nconnecting as ada/{secret}\nx{secret} stays, {secret}\n")
    assert clean.text.count("[redacted: password]") == 3
    assert clean.text.count(secret) == 1
    # A word is no secret for standing beside one.
    assert redact("password: horse\nthe horse runs").text.endswith("the horse runs")
