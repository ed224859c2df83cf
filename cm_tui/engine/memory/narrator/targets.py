"""Target of a fact: the memory of the user, of the project, or one topic.

A topic matches when more than 0.3 of the keywords of a fact's evidence are among its tags: `|E ∩ T| / |E| > 0.3`, with E the
keywords and T the tags, both stemmed. The one with the largest share counts; of equal shares the last changed topic.
Without a topic the target is the note of the project, or of the user.

Only facts about the user go to the user: preferences that name nothing of the project, neither a file nor a symbol nor
a command that the project defines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from cm_tui.engine.memory.entries.entry_record import keywords_of
from cm_tui.engine.memory.mentions.recognise import Named, named_in
from cm_tui.engine.memory.narrator.confidence import Candidate
from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.notes.places import NOTES_FOLDER, USER
from cm_tui.engine.search.ranking.wording import stem
from cm_tui.model import FactKind, Topic

MATCH = 0.3
"""More than this share of the keywords are tags of a topic that matches."""
PROJECT_NOTE = f"{NOTES_FOLDER}/project.md"
USER_NOTE = f"{USER}preferences.md"
HEADINGS: Mapping[FactKind, str] = {
    "command": "Commands", "workflow": "Workflows", "fix": "Fixes", "statement": "Rules", "correction": "Rules",
    "decision": "Decisions", "rejected": "Decisions", "cochange": "Changes together", "convention": "Conventions",
}  # fmt: skip
"""Section of a note for each kind of fact."""
_OF_PEOPLE: frozenset[FactKind] = frozenset({"statement", "correction"})
"""Kinds that may be about the person; all others are about the project."""
_HERE = pattern("targets", "here")
_STYLES = frozenset(("snake_case", "camelCase", "PascalCase", "UPPER_CASE", "SCREAMING_SNAKE_CASE", "lower_case"))
"""Ways to write names, which are no names."""
_PIECE = re.compile(r"[^\W_]+")


class Target(NamedTuple):
    """Target of a fact.

    Attributes:
        scope: a topic of the user counts as the user's.
        note_id: the note.
        heading: of the section there.
        tags: those of the topic that matched.
    """

    scope: Literal["user", "project", "topic"]
    note_id: str
    heading: str
    tags: tuple[str, ...] = ()


def target_of(candidate: Candidate, topics: Sequence[Topic]) -> Target:
    """Return the target of a fact. `topics`: of the project and of its user."""
    scope: Literal["user", "project"] = "user" if is_about_person(candidate) else "project"
    heading = HEADINGS.get(candidate.kind, "Rules")
    about = set(map(key_of, candidate.terms or keywords_of("", candidate.text))) - {""}
    topic = match(about, [one for one in topics if one.scope == scope])
    if topic is None:
        return Target(scope, USER_NOTE if scope == "user" else PROJECT_NOTE, heading)
    return in_topic(topic, about, heading)


def in_topic(topic: Topic, about: Collection[str], heading: str) -> Target:
    """Return a topic as a target. `about`: keys of the fact's keywords."""
    tags = tuple(tag for tag in topic.tags if not tag_keys([tag]).isdisjoint(about))
    return Target("user" if topic.scope == "user" else "topic", topic.id, heading, tags)


def match(about: Collection[str], topics: Iterable[Topic]) -> Topic | None:
    """Return the topic that matches keywords best; None: no match.

    `about`: unique keywords of the evidence, as from `key_of`; `topics`: that are not retired.
    """
    wanted = set(about)
    found = [(len(wanted & tag_keys(one.tags)) / len(wanted), one) for one in topics if not one.retired and wanted]
    fits = [(share, one.modified, one.id, one) for share, one in found if share > MATCH]
    return max(fits, key=lambda fit: fit[:3])[3] if fits else None


def is_about_person(candidate: Candidate) -> bool:
    """Return whether a fact is about the user, in any project."""
    if candidate.scope != "user" or candidate.kind not in _OF_PEOPLE or _HERE.search(candidate.text):
        return False
    return not any(map(_is_of_project, named_in(candidate.text)))


def _is_of_project(name: Named) -> bool:
    """Return whether a name in a text can only be one of some project."""
    # What reads like a word of English is a tool's name more often than a symbol's.
    return not (name.plain or name.text in _STYLES or name.text.startswith("cargo ") or name.kinds == ("setting",))


def key_of(keyword: str) -> str:
    """Return the normal form of a keyword: `HTTP-Routing` and `http routing` are the same."""
    return " ".join(map(stem, _PIECE.findall(keyword.casefold())))


def tag_keys(tags: Iterable[str]) -> set[str]:
    """Return the keys of tags: each tag as a whole, and each of its words."""
    keys = {key_of(tag) for tag in tags}
    return (keys | {word for key in keys for word in key.split()}) - {""}


def whole_keys(tags: Iterable[str]) -> frozenset[str]:
    """Return what tags are compared by, each as a whole."""
    return frozenset(map(key_of, tags)) - {""}


def share_of(one: frozenset[str], two: frozenset[str]) -> float:
    """Return the size of the intersection of two sets, as a share of their union."""
    either = one | two
    return len(one & two) / len(either) if either else 0.0
