"""Front matter of topics: title and tags written into it, everything else in it as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_PLAIN = re.compile(r"[^\W_][\w ./+-]*")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:")
_FENCE = "---"
_TAGS = ("tags", "keywords")
_OWN = frozenset({*_TAGS, "title", "date", "day", "created"})
"""What is said of one note alone."""


def new_head(title: str, tags: Sequence[str]) -> list[str]:
    """Return the lines of front matter for a new topic."""
    return [_FENCE, *([f"title: {_scalar(title)}"] if title else []), *_tags(tags), _FENCE]


def with_head(head: Sequence[str], *, tags: Sequence[str], also: Sequence[str] = ()) -> list[str]:
    """Return front matter with other tags.

    Args:
        head: its lines; none where there is no front matter.
        tags: all that it is to have.
        also: another one: what that says of things that this one is silent about is added.
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
    """Yield what stands in front matter by its names, each with the lines that belong to it; what has no name first."""
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
    """Return a text as YAML, in quotation marks unless it can only be meant as it is."""
    import json

    import yaml

    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    # `no` and `1.5` are no words.
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)
