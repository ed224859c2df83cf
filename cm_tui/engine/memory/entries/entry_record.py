"""An entry as a file has it: its fields, and both ways between them and a record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, get_args

from cm_tui.errors import UsageError
from cm_tui.model import Actor, Category, Entry, Scope

CONTENT_CHARACTERS = 20_000
"""The longest content: a longer text is a document, and belongs into a file."""
TITLE_CHARACTERS = 200
KEYWORDS = 24
KEYWORD_CHARACTERS = 60
ID_LETTERS = 7
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without letters that look like others."""
_FIRST_LETTERS = "ghjkmnqrstvwxyz"
"""An id of an episode has hexadecimal digits alone: no id of an entry begins one."""
PROPOSAL_LETTER = "p"
"""First letter of a proposal's id."""
_LATEST = 2**53
IF_SAID = ("agent", "changed_by", "changed_agent", "session", "commit", "pinned", "never_recall", "from", "redacted")
"""Fields that a file omits when empty."""
_SOURCES = 50
"""Of one entry, at most: it may have been merged again and again."""


def new_id(taken: Iterable[str], first: str = _FIRST_LETTERS) -> str:
    """Return an unused id. `taken`: existing ids; `first`: letters that it may begin with."""
    known = set(taken)
    while True:
        numbers = os.urandom(ID_LETTERS)
        rest = "".join(_ALPHABET[number % len(_ALPHABET)] for number in numbers[1:])
        made = first[numbers[0] % len(first)] + rest
        if made not in known:
            return made


def read_entry(data: Any, scope: Scope) -> Entry | None:
    """Return the entry in a file's record; None: invalid. `data`: the parsed JSON."""
    if not isinstance(data, Mapping):
        return None
    content, name = _text(data, "content"), _text(data, "id")
    if not content.strip() or not 0 < len(name) <= 64 or not name.isprintable() or len(content) > CONTENT_CHARACTERS:
        return None
    return Entry(
        id=name,
        category=category_of(_text(data, "category")) or "Knowledge",
        title=_text(data, "title")[:TITLE_CHARACTERS],
        content=content,
        keywords=split_keywords(data.get("keywords")),
        scope=scope,
        timestamp=_count(data, "timestamp"),
        actor=_actor(data, "actor"),
        agent=_text(data, "agent")[:TITLE_CHARACTERS],
        changed_by=_actor(data, "changed_by") if data.get("changed_by") else "",
        changed_agent=_text(data, "changed_agent")[:TITLE_CHARACTERS],
        session=_text(data, "session")[:TITLE_CHARACTERS],
        commit=_text(data, "commit")[:64],
        pinned=data.get("pinned") is True,
        never_recall=data.get("never_recall") is True,
        made_from=split_keywords(data.get("from"), _SOURCES),
        redacted=_count(data, "redacted"),
    )


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return an entry as a file's record, without empty fields."""
    data: dict[str, Any] = {
        "id": entry.id,
        "category": entry.category,
        "title": entry.title,
        "content": entry.content,
        "keywords": "|".join(entry.keywords),
        "scope": entry.scope,
        "timestamp": entry.timestamp,
        "actor": entry.actor,
    }
    more = {name: "|".join(entry.made_from) if name == "from" else getattr(entry, name) for name in IF_SAID}
    return {**data, **{name: value for name, value in more.items() if value}}


def digest(entry: Entry) -> str:
    """Return a digest of an entry's content, which identifies it."""
    said = entry_data(entry)
    text = "\0".join(f"{name}={said[name]!r}" for name in sorted(said))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def has_same_content(one: Entry | None, other: Entry | None) -> bool:
    """Return whether two states of an entry are the same to a reader."""
    if one is None or other is None:
        return one is other
    return digest(one) == digest(other)


def category_of(text: str) -> Category | None:
    """Return the category of a name, ignoring case; None: no such category."""
    return next((one for one in get_args(Category) if one.lower() == text.strip().lower()), None)


def checked_category(text: str) -> Category:
    """Return the category of a name. Raises UsageError: no such category."""
    found = category_of(text)
    if found is None:
        names = ", ".join(get_args(Category))
        raise UsageError(f"Unknown category: {text[:40]!r}.", hint=f"Use one of {names}.")
    return found


def split_keywords(found: object, most: int = KEYWORDS) -> tuple[str, ...]:
    """Return unique keywords from a text with `|` between them or from a list, up to a limit."""
    given = found.split("|") if isinstance(found, str) else found if isinstance(found, (list, tuple)) else ()
    words = (" ".join(word.replace("|", " ").split()) for word in given if isinstance(word, str))
    return tuple(dict.fromkeys(word[:KEYWORD_CHARACTERS] for word in words if word))[:most]


def storable(text: str) -> str:
    """Return a text for files and store: without lone surrogates and zero bytes, with plain line ends."""
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return valid.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")


def first_line(text: str, most: int = 80) -> str:
    """Return the first line with words, cut at a word if it is long."""
    line = next((" ".join(one.split()) for one in text.split("\n") if one.strip()), "")
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return storable(value) if isinstance(value, str) else ""


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value <= _LATEST else 0


def _actor(data: Mapping[str, Any], name: str) -> Actor:
    # An entry without an author is treated as the user's: agents do not change it.
    return next((one for one in get_args(Actor) if one == data.get(name)), "person")
