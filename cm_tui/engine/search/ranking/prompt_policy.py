"""Which prompts get context: readable rules over the words of a prompt and the names in the project's index.

1. Empty, a command of the agent (`/clear`) or of the shell (`!ls`, `npm install`): no.
2. Something written as code (a name with an inner boundary, a call, a file, backticks): yes, however short.
3. Only words of follow-ups, of git and, in a statement, of chores ("yes, continue", "ja, mach weiter", "push it and open
   a PR", "also run the linter"): no, also where a symbol of the project is called `push`.
4. A word that names something in the index (symbol, file, module, entry): yes; in an answer ("yes", "push") with two
   words more. Words that are names now and then count in questions how, where and why, and next to another word that
   carries meaning. The verb of an order ("can you write a test") is no name.
5. Three meaningful words in a question, four in a statement, two more in an answer, one less for a task ("fix
   login tests"); a version counts as a word; fewer where no index can be asked; six characters of a script without
   spaces: yes; less: no.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from cm_tui.engine.search.ranking.tokens import STOP_WORDS, packaged, word_list

REPEAT_SECONDS = 60.0
"""The same question of the same session is answered once in this time."""
_LONGEST = 4_000
"""Characters that the rules look at; a prompt that long is substantive anyway."""


FindNames = Callable[[Sequence[str], bool], Collection[str] | None]
"""Returns the words that are names in a project's index, with True also those that are names now and then; None: no index."""
_LEAST, _LEAST_UNCHECKED = 3, 2
"""Content words required in a question: without a known name, and without an index."""
_OF_NAME = 3
"""Words more that a name of the index counts for."""
_LONG_ARGUMENT = 80
"""Characters after a command of the agent that are judged like a prompt: the command is one of the user's own."""
_LEAST_UNSPACED = 6
"""Characters of a script without spaces that carry meaning."""


class Verdict(NamedTuple):
    """The decision whether a prompt is worth asking the memory for, and its rule."""

    substantive: bool
    why: str


_FOLLOW_UP, _PLAIN, _SMALL, _TASKS, _ASKING, _CHORES = map(
    word_list, ("follow_up", "plain", "small", "tasks", "asking", "chores")
)
_FOLLOW_UP_UNSPACED = re.compile("|".join(packaged("words")["unspaced"].split()))
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_URL = re.compile(r"https?://\S+")
_COMMAND = re.compile(r"\A(?:/[A-Za-z][\w:-]*(?=\s|\Z)|!)")
_PROGRAM = re.compile(
    r"(?:\$ )?(?:(?:" + "|".join(packaged("words")["programs"].split()) + r")"
    r"|go (?:build|clean|fmt|generate|get|install|list|mod|run|test|tool|vet|work))(?=\s|\Z)"
)
_BEFORE_VERB, _BEHIND_VERB = frozenset(("you", "please", "pls", "let", "lets")), frozenset(("a", "an"))
_CODE = re.compile(
    r"`[^`]+`"
    r"|\b[A-Za-z]\w*_\w+|\b_+[a-z]\w*"
    r"|\b[a-z][a-z0-9]*[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}[a-z]{2,}\w*"
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+\b(?<!e\.g)(?<!i\.e)"
    r"|\b\w+\(\)|\b\w+\((?!s\))[^)\s][^)]*\)(?=\s|\Z)"
    r"|(?:\A|\s)(?:\.{0,2}/)?[\w.-]+/(?:[\w.-]+/)*[\w-]*\.\w+"
    r"|\w::\w|->|=>|==|!=|<\w+>|\{\w*\}"
)
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+(?![\w.])")
_WORD = re.compile(r"[^\W_]+(?:['’/-][^\W_]+)*")
_ENDING = re.compile(r"(?:n't|'(?:s|m|d|ll|re|ve))\Z")
_OF_SENTENCES = (_SMALL | _TASKS | {"hangs", "slow"}) - {"build", "deploy", "format", "lint", "test", "tests"}
_LISTED = _FOLLOW_UP | _PLAIN | _SMALL | _ASKING | STOP_WORDS | word_list("particles")


def classify(prompt: str, find_names: FindNames = lambda *_: None) -> Verdict:
    """Return whether a prompt gets context.

    Args:
        prompt: as the user wrote it.
        find_names: called at most once, for a few words, when the words of the prompt alone do not decide.
    """
    text = _URL.sub("", prompt[:_LONGEST]).strip()
    if command := _COMMAND.match(text):
        text = text[command.end() :].strip()
        if command.group() == "!" or len(text) < _LONG_ARGUMENT:
            return Verdict(False, "a command")
    if _is_command_line(text):
        return Verdict(False, "a command")
    if any(found.group().lower() not in _LISTED for found in _CODE.finditer(text)):
        return Verdict(True, "code in it")
    words = [_ENDING.sub("", word.lower().replace("’", "'")) for word in _WORD.findall(text)]
    if not words:
        return Verdict(False, "no words" if text else "empty")
    return _by_words(text, words, find_names)


def _is_command_line(text: str) -> bool:
    """Return whether a text is a line for the shell, and no sentence that begins with a program's name."""
    is_sentence = text.endswith(("?", "？")) or not _OF_SENTENCES.isdisjoint(_WORD.findall(text.lower()))
    return _PROGRAM.match(text) is not None and not is_sentence


def _by_words(text: str, words: Sequence[str], find_names: FindNames) -> Verdict:
    """Return the verdict on a prompt that has nothing written as code."""
    unspaced = len(_UNSPACED.findall(_FOLLOW_UP_UNSPACED.sub("", text)))
    asks = words[0] in _ASKING
    is_question = asks or text.endswith(("?", "？"))
    meaning = [word for word in dict.fromkeys(words) if _has_meaning(word, is_question)]
    if not unspaced and (_CHORES.issuperset(meaning) if not is_question else not meaning):
        return Verdict(False, "continues the conversation")
    is_answer = not is_question and not _FOLLOW_UP.isdisjoint(words)
    is_task = not is_question and not _TASKS.isdisjoint(words)
    least = _LEAST + (not is_question) + 2 * is_answer - is_task
    # A version says as much as a word: "bump python to 3.14 in ci".
    is_enough = unspaced >= _LEAST_UNSPACED or len(meaning) + bool(_VERSION.search(text)) >= least
    is_about = asks or (len(meaning) > 1 and not is_answer)
    pairs = () if asks else tuple(pairwise(words))
    verbs = {two for one, two in pairs if one in _BEFORE_VERB} | {one for one, two in pairs if two in _BEHIND_VERB}
    names = () if is_enough else find_names([word for word in meaning if word not in _TASKS | verbs], is_about)
    if names is None:
        is_enough = len(meaning) >= _LEAST_UNCHECKED + is_answer - is_task
    elif names and len(meaning) + _OF_NAME * len(names) >= least:
        return Verdict(True, f"names {min(names, key=meaning.index)}")
    return Verdict(is_enough, "meaningful words" if is_enough else "too few words")


def _has_meaning(word: str, is_question: bool) -> bool:
    if is_question and word in _TASKS:
        return True
    is_listed = all(part in _LISTED for part in word.split("/"))
    return not (is_listed or word.isdecimal() or len(word) < 2 or _UNSPACED.search(word))


def same_question(prompt: str) -> str:
    """Return the normal form of a prompt, in which case and spacing do not matter."""
    return " ".join(prompt.split()).casefold()


class Recent:
    """Questions that were answered lately, by session."""

    def __init__(self, seconds: float = REPEAT_SECONDS) -> None:
        self._seconds = seconds
        self._answered: dict[tuple[str, str], float] = {}

    def was_answered(self, session: str, prompt: str, now: float) -> bool:
        """Return whether the same question of the session was answered within the time."""
        at = self._answered.get((session, same_question(prompt)))
        return at is not None and now - at < self._seconds

    def answered(self, session: str, prompt: str, now: float) -> None:
        """Remember a question that was answered at a moment."""
        self._answered = {key: at for key, at in self._answered.items() if now - at < self._seconds}
        self._answered[session, same_question(prompt)] = now
