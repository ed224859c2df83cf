"""Secrets leave, and nothing else does."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.redact import BEYOND, redact

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "AWS key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "GitHub token": "ghp_" + "a1B2" * 9,
    "GitLab token": "glpat-" + "x" * 20,
    "Slack token": "xoxb-" + "1234567890-abc",
    "API key": "sk-" + "proj-abcdefghijklmnopqrst",
    "Google key": "AIza" + "a" * 35,
    "npm token": "npm_" + "a" * 36,
    "Hugging Face token": "hf_" + "aBcD" * 9,
    "PyPI token": "pypi-" + "AgEIcHlw" * 8,
    "token": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0" + ".abcdefghijkl",
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
    ],
)
def test_ordinary_code_stays(text: str):
    assert redact(text) == (text, 0)


@SLOW
@given(st.text(max_size=400))
def test_what_was_redacted_stays_so(text: str):
    clean = redact(text)
    assert redact(clean.text).text == clean.text


PARTS = (
    "token", "password", "my password is ", "TOKEN", "secret=", "api_key: ", "eyJ", "eyJaaaaaaaaa", "ghp_", "sk-", "AIza",
    "xoxb-", "hf_", "Bearer ", "://", "@", ":", "=", '"', "'", "\\", ".", "-", "_", " ", "\n", "a1B2c3D4e5F6g7H8i9J0",
    "correcthorsebattery", "[redacted: token]", "-----BEGIN ", "PRIVATE KEY-----", "-----END ",
)  # fmt: skip


@SLOW
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=4), max_size=40).map("".join))
def test_what_is_made_of_secrets_stays_redacted_and_counts(text: str):
    clean = redact(text)
    assert clean.text.count("[redacted: ") >= clean.secrets
    assert (clean.secrets == 0) == (clean.text == text)


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
)  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
def test_time_grows_with_the_length_and_no_faster(run: str):
    def seconds(size: int) -> float:
        text = (run * size)[:size]
        # A trigger in front, so that rules are tried; at the end what a match would need, or what prevents one.
        texts = [f"token {text} is", f"PRIVATE KEY password='{text}", f"secret={text}(", f"{text}@"]
        taken = []
        for _ in range(3):
            begun = time.thread_time()
            for one in texts:
                redact(one)
            taken.append(time.thread_time() - begun)
        return min(taken)

    seconds(100)
    # Eight times the length: 8 times as long when linear, 64 times when not.
    assert seconds(32_000) < 32 * max(seconds(4_000), 0.001)
