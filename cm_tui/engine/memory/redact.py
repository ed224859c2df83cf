"""Redaction: secrets are replaced before any text of a person or an agent is stored.

Any text may come, as long as it likes: nothing here takes more than a number of steps in proportion to its length. What
can be repeated is bounded, or possessive (`*+`), and begins where nothing of its own kind stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

BEYOND = 4_000
"""Who keeps a part of a text gives so much more of it to `redact`: a secret at the cut is then still seen whole."""


class Redacted(NamedTuple):
    """A text without the secrets that were recognised, and how many there were."""

    text: str
    secrets: int


class _Span(NamedTuple):
    """Place and kind of a secret."""

    start: int
    end: int
    what: str


# A rule is compiled only where one of its words occurs: most texts cost a few searches for plain words.
_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    ),
    ("AWS key", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", ("gh", "github_pat_"), r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{22,}+)"),
    ("GitLab token", ("glpat-",), r"\bglpat-[\w-]{20,}+"),
    ("Slack token", ("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-[\w-]{10,}+"),
    ("API key", ("sk-", "sk_", "pk_", "rk_"), r"\b(?:sk-[\w-]{16,}+|[spr]k_(?:live|test)_[A-Za-z0-9]{16,}+)"),
    ("Google key", ("AIza",), r"\bAIza[\w-]{35,}+"),
    ("npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("Hugging Face token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}+"),
    ("PyPI token", ("pypi-",), r"\bpypi-[\w-]{50,}+"),
    ("token", ("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+"),
    ("credentials", ("earer ", "asic "), r"(?<=\b[Bb]earer )[\w.~+/-]{16,}+=*+|(?<=\b[Bb]asic )[A-Za-z0-9+/]{16,}+=*+"),
    ("password", ("://",), r"(?<=://)[^\s/@:'\"]*+:[^\s/@'\"]++(?=@)"),
)

_NAMES = ("passw", "passphrase", "secret", "token", "key", "credential")
# The words are looked for themselves, never the name around them: a long run of letters is then read once.
_ASSIGNED = (
    r"(?i)(?P<word>passw(?:or)?d|passphrase|secret|token|(?:api|access|private)[_-]?key|credential)"
    r"(?P<rest>[\w-]{0,64}+)\\?['\"]?(?P<op>\s{0,20}+(?::\s?[a-z_]\w{0,30}\s{0,3}(?==))?(?:=>|:=|[:=])\s{0,20}+)"
)
_VALUE = (
    r"\\(?P<quote>['\"])(?P<escaped>[^'\"\\\n]*+)(?:\\(?P=quote)|\Z)"
    r"|\"(?P<double>[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)(?:\"|\Z)"
    r"|'(?P<single>[^'\\\n]*+(?:\\.[^'\\\n]*+)*+)(?:'|\Z)"
    r"|(?P<bare>[^\s'\"`(){}\[\],;<>$]{6,400}+)(?:(?=[\s'\"`]|\Z)|(?P<more>[^\s'\"`(){}\[\],;<>$]++))"
)
# `my password for the shop is …`
_STATED = (
    r"(?i)(?:\b(?P<whose>my|our|mein|unser) )?\b(?:password|passwort|passphrase|passwd|secret|token|(?:api|access)[ _-]?key)"
    r"(?: [\w.-]{1,30}+){0,6}? (?:is|was|ist|lautet|=):? [\"'`]?(?P<value>[^\s'\"`,;<>(){}\[\]]{6,}+)"
)
_LETTER, _DIGIT, _MARK = r"[^\W\d_]", r"\d", r"[!@#$%^&*?~+=]"
_CODE = r"[A-Za-z_][\w-]*(?:\.\w+)+|[A-Z_]+|https?:.*|/.*"
"""What stands behind a name in capitals and is no secret: an attribute, another name, an address, a path."""
_VARIABLE = r"[A-Z]+(?:_[A-Z]+)+"
"""A variable of the environment that holds a secret."""
_PLAIN_REST = r"(?i)(?:[_-]?(?:key|value|\d))*+"
_DONE = r"\[redacted: [A-Za-z ]+\]"


def redact(text: str, limit: int | None = None) -> Redacted:
    """Replace what looks like a secret by `[redacted: WHAT]`.

    Args:
        text: what is looked through.
        limit: how much of it is kept; what stands behind helps to see a secret that is cut there.
    """
    limit = len(text) if limit is None else limit
    pieces: list[str] = []
    at = count = 0
    for span in _merged(sorted(_spans(text))):
        if span.start >= limit:
            break
        pieces += [text[at : span.start], f"[redacted: {span.what}]"]
        at = span.end
        count += 1
    pieces.append(text[at:limit])
    clean = "".join(pieces)
    return Redacted(clean if len(text) <= limit else clean[:limit], count)


def _merged(spans: list[_Span]) -> Iterator[_Span]:
    """Yield spans that do not overlap; of two that do, the one that begins first says what it is."""
    last: _Span | None = None
    for span in spans:
        if last is not None and span.start < last.end:
            last = last._replace(end=max(last.end, span.end))
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _spans(text: str) -> Iterator[_Span]:
    for what, words, pattern in _RULES:
        if any(word in text for word in words):
            yield from (_Span(*found.span(), what) for found in _compiled(pattern).finditer(text))
    lowered = text.lower()
    if any(name in lowered for name in _NAMES):
        yield from _assigned(text)
        yield from _stated(text)


def _assigned(text: str) -> Iterator[_Span]:
    """Yield what is assigned to a name that speaks of a secret, in code and in configuration."""
    done = 0
    for name in _compiled(_ASSIGNED).finditer(text):
        value = _compiled(_VALUE).match(text, name.end()) if name.start() >= done else None
        if value is None:
            continue
        group = next(group for group in ("escaped", "double", "single", "bare") if value[group] is not None)
        bare = group == "bare"
        # What goes on for longer than anyone looks at it is no word of a program.
        if value["more"] or (
            _is_bare_secret(text, name, value[group]) if bare else _is_quoted_secret(name, value[group])
        ):
            # A name inside a secret is not looked at: all of them together would be read again for each.
            done = value.end()
            yield _Span(*(value.span() if bare else value.span(group)), "secret")


def _is_quoted_secret(name: re.Match[str], value: str) -> bool:
    if len(value) < 6 or _compiled(_DONE).fullmatch(value) or _compiled(_VARIABLE).fullmatch(value):
        return False
    # Words with a number among them; without one they are a label or a message.
    return not _has(r"\s", value) or (_has(_DIGIT, value) and bool(_compiled(_PLAIN_REST).fullmatch(name["rest"])))


def _is_bare_secret(text: str, name: re.Match[str], value: str) -> bool:
    if len(value) >= 12 and "." not in value and _has(_DIGIT, value) and _has(_LETTER, value):
        return True
    # `DB_PASSWORD=…`, as in a file of settings or on a command line: code has spaces there, or an expression.
    word, rest = name["word"], name["rest"]
    if (
        name["op"] != "="
        or not word.isupper()
        or not _compiled(_PLAIN_REST).fullmatch(rest)
        or not _has(_LETTER, value)
    ):
        return False
    before = text[max(0, name.start() - 64) : name.start()]
    stem = before[len(before.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) :]
    outside = before[: len(before) - len(stem)]
    return not (outside[-1:].isalnum() or outside.endswith(".") or _compiled(_CODE).fullmatch(value))


def _stated(text: str) -> Iterator[_Span]:
    """Yield secrets that a sentence gives away."""
    for found in _compiled(_STATED).finditer(text):
        value = found["value"]
        mixed = value != value.lower() and value != value.upper()
        strong = len(value) >= 8 and (mixed or _has(_MARK, value))
        if _has(_DIGIT, value) and _has(_LETTER, value) and (found["whose"] or strong):
            yield _Span(*found.span("value"), "secret")


def _has(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
