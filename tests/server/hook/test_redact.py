"""Secrets leave, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.server.hook.redact import redact

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "AWS key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "GitHub token": "ghp_" + "a1B2" * 9,
    "GitLab token": "glpat-" + "x" * 20,
    "Slack token": "xoxb-" + "1234567890-abc",
    "API key": "sk-" + "proj-abcdefghijklmnopqrst",
    "Google key": "AIza" + "a" * 35,
    "npm token": "npm_" + "a" * 36,
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
    ],
)
def test_ordinary_code_stays(text: str):
    assert redact(text) == (text, 0)


@given(st.text(max_size=400))
def test_what_was_redacted_stays_so(text: str):
    clean = redact(text)
    assert redact(clean.text).text == clean.text
