"""Front matter of topics: writing title and tags, with everything else unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_PLAIN = re.compile(r"[^\W_][\w ./+-]*")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:")
_FENCE = "---"
_TAGS = ("tags", "keywords")
_OWN = frozenset({*_TAGS, "title", "date", "day", "created"})
"""Fields that are specific to one note."""


def new_head(title: str, tags: Sequence[str]) -> list[str]:
    """Return the lines of front matter for a new topic."""
    return [_FENCE, *([f"title: {_scalar(title)}"] if title else []), *_tags(tags), _FENCE]


def with_head(head: Sequence[str], *, tags: Sequence[str], also: Sequence[str] = ()) -> list[str]:
    """Return front matter with other tags.

    `head`: its lines; empty: no front matter. `tags`: all its tags. `also`: another one, from which missing fields are
    added.
    """
    known = {name for name, _ in _keys(head)}
    found: list[str] = []
    written = _tags(tags)
    for name, lines in _keys(head):
        found += lines if name not in _TAGS else written
        written = [] if name in _TAGS else written
    found += [line for name, lines in _keys(also) if name and name not in {*known, *_OWN} for line in lines]
    found += written
    if not found:
        return list(head)
    return [head[0], *found, head[-1]] if head else [_FENCE, *found, _FENCE, ""]


def _keys(head: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields of front matter by name, each with its lines; lines without a name first."""
    name = ""
    lines: list[str] = []
    for line in head[1:-1]:
        if found := _KEY.match(line):
            if lines:
                yield name, lines
            name, lines = found[1].lower(), [line]
        else:
            lines = [*lines, line]
    if lines:
        yield name, lines


def _tags(tags: Sequence[str]) -> list[str]:
    return [f"tags: [{', '.join(map(_scalar, tags))}]"] if tags else []


def _scalar(text: str) -> str:
    """Return a text as YAML, quoted unless it is unambiguous."""
    import json

    import yaml

    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    # `no` and `1.5` are no words.
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)
