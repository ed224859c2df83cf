"""Themes: words that at least five facts without a topic share.

A theme is a word (of a fact's subject, no filler and not in most facts) that at least five facts of one scope have; the
word with the most facts comes first, and a fact counts for only one theme. Its tags are that word and those in at least
60 % of its facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.engine.memory.entries.keywords import keywords_of
from cm_tui.engine.memory.narrator.note_blocks import MARK
from cm_tui.engine.memory.narrator.targets import key_of

LEAST_FACTS = 5
_COMMON, _SHARED = 0.6, 0.6
"""Shares: of all facts, above which a word is too common; of a theme's facts, from which on it is a tag."""
_FEW = 10
"""Of so few facts none is too common."""
_MOST_TAGS = 5
_GENERIC = frozenset(
    map(
        key_of,
        [
            "add",
            "always",
            "avoid",
            "before",
            "after",
            "call",
            "change",
            "check",
            "code",
            "create",
            "do",
            "ensure",
            "file",
            "first",
            "fix",
            "force",
            "get",
            "instead",
            "keep",
            "last",
            "line",
            "make",
            "need",
            "never",
            "new",
            "old",
            "prefer",
            "project",
            "put",
            "read",
            "remember",
            "remove",
            "repo",
            "repository",
            "run",
            "script",
            "set",
            "should",
            "start",
            "stop",
            "sure",
            "test",
            "update",
            "use",
            "using",
            "via",
            "want",
            "way",
            "when",
            "write",
        ],
    )
) - {key_of("test")}
"""Words of instructions, which are no subject."""


class Fact(NamedTuple):
    """A statement, written or proposed.

    Attributes:
        text: one line.
        note: its note, or the target.
        is_written: it is written.
    """

    text: str
    note: str
    is_written: bool


class Theme(NamedTuple):
    """A subject of several facts.

    Attributes:
        word: the common word, in its most frequent form.
        tags: that word, and others.
        facts: the facts.
    """

    word: str
    tags: tuple[str, ...]
    facts: tuple[Fact, ...]


def themes(facts: Sequence[Fact]) -> list[Theme]:
    """Return the themes of facts of one scope, that of the most facts first."""
    about = [_words(fact) for fact in facts]
    left = set(range(len(facts)))
    most = len(facts) if len(facts) <= _FEW else _COMMON * len(facts)
    counts = Counter(key for words in about for key in words)
    usable = {key for key, times in counts.items() if LEAST_FACTS <= times <= most}
    found: list[Theme] = []
    while True:
        there = Counter(key for number in left for key in about[number] if key in usable)
        # Of equally frequent ones the first of the alphabet: the same each time.
        key, times = max(there.items(), key=lambda one: (one[1], [-ord(letter) for letter in one[0]]), default=("", 0))
        if times < LEAST_FACTS:
            return found
        mine = sorted(number for number in left if key in about[number])
        left -= set(mine)
        found.append(_theme(key, [facts[number] for number in mine], [about[number] for number in mine]))


def _theme(key: str, facts: Sequence[Fact], about: Sequence[dict[str, str]]) -> Theme:
    counts = Counter(other for words in about for other in words)
    written = {other: Counter(words[other] for words in about if other in words) for other in counts}
    shared = [other for other, times in counts.most_common() if times >= _SHARED * len(facts) and other != key]
    names = [
        written[other].most_common(1)[0][0] for other in (key, *sorted(shared, key=lambda one: (-counts[one], one)))
    ]
    return Theme(names[0], tuple(dict.fromkeys(names))[:_MOST_TAGS], tuple(facts))


def _words(fact: Fact) -> dict[str, str]:
    """Return the subject of a fact: keys, each as written."""
    text = MARK.sub("", fact.text).replace("`", " ")
    return {
        key: word for word in keywords_of("", text) if (key := key_of(word)) and key not in _GENERIC and " " not in key
    }
