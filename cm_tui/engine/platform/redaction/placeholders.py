"""Values that are not secrets: placeholders, references, types, names of other things.

A placeholder is for the reader of documentation to replace: made only of words that name a secret or request a value
(`changeme`, `your-api-key`, `mySecretPassword`), or of one repeated character (`****`, `xxxx`). A word with a number in
it (`password1`) is a common real password, and counts as a secret.
"""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.platform.redaction.kinds import is_mark
from cm_tui.engine.platform.redaction.pattern import Pattern


def _listed(kind: str) -> frozenset[str]:
    lines = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if line.startswith(f"{kind}: ") for word in line.split()[1:])


_WORDS, _TYPES = _listed("filler"), _listed("type")
_LONGEST = 200
_SPLIT = Pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_FILLER = Pattern(r"(.)\1*+|[*xX.•·_#?\-…]++|(?:[xX*]{2,}+[-_. ]?)+|0?123456789?0?|abc(?:123)?|\W*")
_REFERENCE = Pattern(
    r"""\$\{?\w|%\w+%|@\{|\{\{|\{%|<[%\w\s/_.:|$\[{-]*>?|\$\(|\#\{|[{\[(]|%[sdvrq(]|\\\(|&lt;|!(?:ref|sub|vault|env|secret|include|reference)\b|"""
    r"""(?:os|process|sys|env|ENV|config|secrets|vars|var|local|data|module|self|this|params|props|settings|options|request|req)[.\[:]|"""
    r"""(?:getenv|secretsmanager|ssm|vault|op|keyring|file|env|arn|kms|sops|awskms|https?|doppler|ENC\[|encrypted):"""
    r"""|__\w+__$|\.\.\.|…|/(?:[A-Za-z_.-]{1,30}\d{0,3}/)*[A-Za-z_.-]{1,30}\d{0,3}$|~/|\./|[A-Za-z]:\\"""
    r"""|/\^|\\u[0-9a-fA-F]{4}\\u"""
)
_RULES = Pattern(r"(?:[a-z_]{2,20}(?::[\w,]{1,40})?\|){1,12}[a-z_]{2,20}(?::[\w,]{1,40})?")
"""Rules of a validator: `required|min:8|confirmed`."""
_CALL = Pattern(r"[A-Za-z_][\w.:>-]{2,}[(\[]")


def is_placeholder(value: str) -> bool:
    """Return whether a value consists only of filler words or characters."""
    if len(value) > _LONGEST:
        return False
    if _FILLER.fullmatch(value) or value.endswith(("EXAMPLE", "EXAMPLEKEY")):
        return True
    if "|" in value and "required" in value and _RULES.fullmatch(value):
        return True
    words = _SPLIT.findall(value)
    if not words or any(word.isdecimal() for word in words):
        return False
    # Joined words (`mypassword`) are as plain as separate ones.
    return all(word.lower() in _WORDS or _is_joined(word.lower()) for word in words)


def is_reference(value: str) -> bool:
    """Return whether a value refers to the secret's place: a variable, a template, a path, a call."""
    if value.startswith("[redacted"):
        # What only begins like a mark may hold anything.
        return is_mark(value)
    return bool(_REFERENCE.match(value) or _CALL.match(value)) or "${" in value or "{{" in value or "#{" in value


def is_type(value: str) -> bool:
    """Return whether a value is a type or a plain name that code has there."""
    return value.lower().rstrip("?!;,") in _TYPES


def _is_joined(word: str) -> bool:
    """Whether a word of at most 24 letters is two or three filling words in one."""
    if not 5 <= len(word) <= 24:
        return False
    ends = {0}
    for at in range(1, len(word) + 1):
        if any(start in ends and at - start > 1 and word[start:at] in _WORDS for start in range(at)):
            ends.add(at)
    return len(word) in ends
