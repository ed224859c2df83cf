"""Secrets by place: options of commands, `.netrc`, XML, headers, tables, sentences; the table is `places.tsv`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import ByWord, Pattern, compiled
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference, is_type
from cm_tui.engine.platform.redaction.strength import is_mixed, is_random

_PROSE_LIST = "the a an is are was and or to for in with of on must can will may option options flag flags argument arguments parameter that when if it from has have instead be"
_PROSE = frozenset(_PROSE_LIST.split())


def _anything(value: str) -> bool:
    """Return whether a value is no placeholder, reference, type or word of a sentence."""
    return (
        len(value) >= 3 and not (is_placeholder(value) or is_reference(value) or is_type(value)) and value not in _PROSE
    )


def _likely(value: str) -> bool:
    return len(value) >= 6 and is_mixed(value) and _anything(value)


def _strong(value: str) -> bool:
    return len(value) >= 8 and is_mixed(value) and _anything(value)


def _random(value: str) -> bool:
    return is_random(value) and not is_reference(value)


def _element(value: str) -> bool:
    return _strong(value) and is_random(value) and " " not in value


def _words(value: str) -> bool:
    return _anything(value) and (" " not in value or is_mixed(value))


def _registry(value: str) -> bool:
    """Return whether a value behind `-p` is a password, and no port, path or archive."""
    is_number = value[0].isdecimal() and ":" not in value
    return _anything(value) and not is_number and "/" not in value and not value.endswith((".zip", ".txt", ".rar"))


def _pair(value: str) -> bool:
    user, _, password = value.partition(":")
    return _anything(password) and not user.startswith("$")


def _aws(value: str) -> bool:
    return is_random(value) and any(map(str.isupper, value)) and any(map(str.islower, value))


def _basic(value: str) -> bool:
    from base64 import b64decode

    try:
        return ":" in b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except ValueError:
        return False


_ACCEPT: dict[str, Callable[[str], bool]] = {
    test.__name__[1:]: test
    for test in (_anything, _likely, _strong, _random, _element, _words, _registry, _pair, _aws, _basic)
}


class Place(NamedTuple):
    """One place that holds a secret; the table describes the columns."""

    kind: str
    words: tuple[str, ...]
    also: tuple[str, ...]
    accept: Callable[[str], bool]
    pattern: str
    source: str


def _rows() -> Iterator[Place]:
    parts: dict[str, str] = {}

    def whole(pattern: str) -> str:
        return re.sub("%([A-Z]+)%", lambda found: parts[found[1]], pattern)

    for row in Path(__file__).with_name("places.tsv").read_text(encoding="utf-8").splitlines():
        if row.startswith("%"):
            name, pattern = row[1:].split("\t")
            parts[name] = whole(pattern)
        elif row and not row.startswith("#"):
            kind, words, also, accept, pattern, source = row.split("\t")
            yield Place(
                kind, tuple(json.loads(words)), tuple(json.loads(also)), _ACCEPT[accept], whole(pattern), source
            )


PLACES = tuple(_rows())
_PLACES = ByWord[Place](PLACES)

# In lower case, and from the name on: the text before it is checked after a match.
_SECRETS = ("password", "passwort", "passphrase", "passwd", "passcode", "secret", "token", "pin", "api", "access")
"""What `_STATED` begins with."""
_STATED = Pattern(
    r"(?:password|passwort|passphrase|passwd|passcode|secret|token|(?<!\w)pin|(?:api|access)[ _-]?key)"
    r"(?: [\w.-]{1,30}+){0,6}? (?:is|was|ist|lautet|to):? [\"'`]?(?P<value>[^\s'\"`,;<>(){}\[\]]{4,}+)"
)
_WHOSE = Pattern(r"\b(?:my|our|mein|unser) $")
_MARK = Pattern(r"[!@#$%^&*?~+=]")


def find_places(text: str, lowered: str) -> Iterator[Found]:
    """Yield values in the places of secrets. `lowered`: the text in lower case."""
    for place in _PLACES.wanted(lowered):
        if not place.also or any(word in lowered for word in place.also):
            for found in compiled(place.pattern).finditer(text):
                group = next(group for group in ("value", "d", "s") if found.groupdict().get(group) is not None)
                if place.accept(found[group]):
                    yield Found(*found.span(group), place.kind)
    yield from _stated(text, lowered)


def _stated(text: str, lowered: str) -> Iterator[Found]:
    """Yield secrets in sentences: `my password for the shop is …`."""
    for found in _statements(lowered):
        start = found.start("value")
        whole = text[start : found.end("value")]
        value = whole.rstrip(".:!?") or whole
        if lowered[found.start() - 1 : found.start()].isalnum() or is_placeholder(value) or is_reference(value):
            continue
        mixed = value != value.lower() and value != value.upper()
        strong = len(value) >= 8 and (mixed or _MARK.search(value) is not None or is_random(value))
        own = _WHOSE.search(lowered, max(0, found.start() - 8), found.start()) is not None
        if is_mixed(value) and len(value) >= 6 and (own or strong):
            yield Found(start, start + len(value), "password" if found[0].startswith("pass") else "secret")


def _statements(lowered: str) -> Iterator[re.Match[str]]:
    for word in _SECRETS:
        at = lowered.find(word)
        while at >= 0:
            found = _STATED.match(lowered, at)
            if found is not None:
                yield found
            at = lowered.find(word, at + len(word) if found is None else found.end())
