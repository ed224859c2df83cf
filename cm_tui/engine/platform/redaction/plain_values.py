"""Kind of a value by its words alone: a name in code, a phrase, a single word."""

from __future__ import annotations

import re

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.placeholders import is_placeholder
from cm_tui.engine.platform.redaction.strength import is_mixed

CODE = Pattern(r"[A-Za-z_$][\w$-]*(?:(?:\.|->|::|\?\.)\w+)+;?|[A-Z_]+|https?:.*|/.*|[\w.]+\(.*")
"""Text after a name that is not a secret: an attribute, another name, an address, a path."""
_SIGN = Pattern(r"[(){}\[\];,<>\"'`]")
_EXPRESSION = Pattern(r"[A-Za-z_]{3}\(|[;,{]$|[\"'`]")
_CAMEL = Pattern(r"[a-z]+(?:[A-Z][a-z]*)+|[A-Z][A-Za-z]*")
_PLAIN_PIECE = Pattern(r"(?:[A-Z]?[a-z]++)*\d{0,2}|(?:[A-Z]{0,3}[a-z]{3,}+\d{0,2})*|[A-Z]++\d{0,2}|[vV]?\d{1,4}")
_CLASS_NAME = Pattern(r"[A-Z]{2,6}(?:[A-Z][a-z]{2,})+\d?")
"""`HTTPBasicAuth1`."""
_STOP_LIST = "a an the of to for is are be it in on at with your my our or and not no this that please enter must can will used use as by from"
_STOP = frozenset(_STOP_LIST.split())


def is_word_alone(value: str) -> bool:
    """Whether a value of a single word is a password, and not an expression, type or sentence."""
    if _SIGN.search(value):
        # Signs that code has, and passwords too.
        return is_mixed(value) and not _EXPRESSION.search(value)
    return (
        len(value) >= 4
        and not CODE.fullmatch(value)
        and not _CAMEL.fullmatch(value)
        and not value.endswith((":", "?", "."))
    )


def is_phrase(value: str) -> bool:
    """Whether it is a phrase as used for passwords: at least three short words, none of them grammar."""
    words = re.split(r"[ _-]", value)
    return (
        3 <= len(words) <= 12
        and all(word.isalnum() and word == word.lower() and word not in _STOP and len(word) > 1 for word in words)
        and not is_placeholder(value)
    )


def is_name(value: str) -> bool:
    """Whether it is a name with a number at the end of a word: `user_token_v2`, `oauth2-client`, `getSecret2`."""
    if _CLASS_NAME.fullmatch(value):
        return True
    pieces = [piece for piece in re.split(r"[_.:/-]", value) if piece]
    plain = all(_PLAIN_PIECE.fullmatch(piece) for piece in pieces)
    if not plain:
        return False
    words = [re.sub(r"\d+", "", piece) for piece in pieces]
    return (
        len(pieces) > 1 or any(is_placeholder(word) for word in words if word) or bool(re.search(r"[a-z][A-Z]", value))
    )


def is_long_word(value: str) -> bool:
    """Whether it is letters alone, too many for a word, and not written as a name is."""
    return len(value) >= 20 and value.isalpha() and not re.search(r"[a-z][A-Z]", value) and not value.isupper()


def has_space(value: str) -> bool:
    """Whether it is more than one word."""
    return any(map(str.isspace, value))
