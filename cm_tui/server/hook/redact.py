"""Secrets leave before anything is stored, and what is left says so."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Redacted(NamedTuple):
    """A text without the secrets that were recognised, and how many there were."""

    text: str
    secrets: int


# A rule is compiled only where one of its words occurs: most texts cost a few searches for plain words.
_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("private key", ("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("AWS key", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", ("gh", "github_pat_"), r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{22,})"),
    ("GitLab token", ("glpat-",), r"\bglpat-[\w-]{20,}"),
    ("Slack token", ("xox",), r"\bxox[abeoprs]-[\w-]{10,}"),
    ("API key", ("sk-", "sk_", "pk_", "rk_"), r"\b(?:sk-[\w-]{16,}|[spr]k_(?:live|test)_[A-Za-z0-9]{16,})"),
    ("Google key", ("AIza",), r"\bAIza[\w-]{35}"),
    ("npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("token", ("eyJ",), r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    ("credentials", ("earer ", "asic "), r"(?<=\b[Bb]earer )[\w.~+/-]{16,}=*|(?<=\b[Bb]asic )[A-Za-z0-9+/]{16,}=*"),
    ("password", ("://",), r"(?<=://)[^\s/@:'\"]*:[^\s/@'\"]+(?=@)"),
)
_NAMES = ("passw", "secret", "token", "api_key", "apikey", "api-key", "access_key", "private_key", "credential")
_ASSIGNED = (
    r"(?i)(?P<name>[\w-]*(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w-]*"
    r"['\"]?\s*(?:=>|:=|[:=])\s*)(?:(?P<quote>['\"])(?P<quoted>[^'\"\s]{6,})(?P=quote)"
    r"|(?P<bare>(?=[^\s'\"]*\d)(?=[^\s'\"]*[A-Za-z])[^\s'\"(){}\[\],;<>$.]{12,})(?=\s|\Z))"
)


def redact(text: str) -> Redacted:
    """Replace what looks like a secret by `[redacted: WHAT]`."""
    count = 0
    for what, words, pattern in _RULES:
        if any(word in text for word in words):
            text, found = _compiled(pattern).subn(f"[redacted: {what}]", text)
            count += found
    lowered = text.lower()
    if any(name in lowered for name in _NAMES):
        text, found = _compiled(_ASSIGNED).subn(_assigned, text)
        count += found
    return Redacted(text, count)


def _assigned(found: re.Match[str]) -> str:
    quote = found["quote"] or ""
    return f"{found['name']}{quote}[redacted: secret]{quote}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
