"""The user's own words in a turn, sentence by sentence.

Excluded is everyone else's text: prompts of sub-agents, blocks between tags (inserted by hooks and harnesses),
fenced code, quoted lines, logs, stack traces, diffs, tables, shell commands, lines with the narrator's mark, pasted
documents, and an agent's summaries of its own session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

_CHARACTERS = 20_000
"""Characters of a prompt: a longer one was pasted, and only its first lines are used."""
_SENTENCE = 400
"""Characters of a sentence: a longer one is not a statement."""
_LINE = 700
_WRAPPED = 70
"""Least length of a line that continues in the next one, if that begins in lower case."""
_MOST_LINES = 300
_HEADINGS = 3
"""Headings of Markdown that make a text a document."""
_NOT_THEIRS = pattern("own_words", "not_theirs")
_FENCE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<([A-Za-z][\w:-]{0,40})(?:\s[^<>\n]{0,300})?>.*?(?:</\1>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,40}(?:\s[^<>\n]{0,300})?/?>")
_MARK = "cm:narrator"
_HEADING = re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE)
_FOREIGN = pattern("own_words", "foreign", 0)
_HEADS_FOREIGN = pattern("own_words", "heads_foreign")
"""A line that introduces others' words: the text after its colon, and below it up to the next empty line."""
_LIST = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_CODE_LIKE = re.compile(r"[{};=<>()\[\]|\\/&$]")
_MOST_SENTENCES = 12
"""Characters of a prompt that is used as a whole; in a longer one only stressed sentences count."""
_STRESSED = pattern("own_words", "stressed")
_SPAN = re.compile(r"`[^`\n]*`")
_NO_SENTENCE = pattern("own_words", "no_sentence", 0)
"""Links by themselves, prompts of a shell, versions, settings, hints of git."""
_CODE_SIGN = re.compile(r"[{};=<>()\[\]|\\$\"]|\w\.\w|__|::|->")
_MOST_SIGNS = 7
_CODE_WORD = pattern("own_words", "code_word", 0)
_END = re.compile(r"(?<=[.!?…])[\"')\]]?\s+(?=\S)|\s+(?:btw|by the way|p\.?s\.?:?)[,:]?\s+", re.IGNORECASE)
_ABBREVIATED = re.compile(r"(?:\b(?i:e\.g|i\.e|etc|vs|approx|incl|resp|cf|nr|dr|mr|mrs|st)|\b[A-Z])\.$")
_WORD = re.compile(r"[^\W_]+")
_OPENING = pattern("own_words", "opening")
_CLOSING = pattern("own_words", "closing")
_FEW = 3
"""A sentence of fewer words belongs to the one before it."""
_REFUSED = re.compile(r"(?:no|nope|yes|ok|please don'?t|no thanks?)\b", re.IGNORECASE)
_SIGNED = pattern("own_words", "signed", 0)


def sentences_of(record: EpisodeRecord) -> tuple[str, ...]:
    """Return the user's own sentences in a turn, in order, each once."""
    if record.parent or record.actor == "narrator" or record.type not in ("task", "query"):
        return ()
    return tuple(dict.fromkeys(one for prompt in record.prompts for one in _of_prompt(prompt)))


def signature(record: EpisodeRecord) -> str:
    """Return the name that a prompt is signed with; empty: none."""
    for prompt in record.prompts:
        found = _SIGNED.search(prompt[:_CHARACTERS])
        if found:
            return next(name for name in found.groups() if name)
    return ""


def is_own(prompt: str) -> bool:
    """Return whether a prompt is the user's, and not a program's, such as a summary of the session."""
    return _NOT_THEIRS.match(prompt) is None


def sentences_in(text: str) -> tuple[str, ...]:
    """Return the sentences of a prompt that are the person's own."""
    return tuple(dict.fromkeys(_of_prompt(text)))


def _of_prompt(prompt: str) -> Iterator[str]:
    if not is_own(prompt):
        return
    text = _SIGNED.sub("", prompt[:_CHARACTERS])
    text = _FENCE.sub("\n\n", text)
    text = _TAG.sub(" ", _TAGGED.sub("\n\n", text))
    if len(_HEADING.findall(text)) >= _HEADINGS:
        # A document: the text above its first heading may be the request.
        text = text[: _HEADING.search(text).start()]  # type: ignore[union-attr]
    found = [_bare(one) for line in _lines(text) for one in _sentences(line) if not _is_code(one)]
    # A long text was pasted, or is about one thing at length: casual remarks in it are not statements.
    yield from found if len(found) <= _MOST_SENTENCES else (one for one in found if _STRESSED.match(one))


def _lines(text: str) -> Iterator[str]:
    """Yield lines of prose; a wrapped one is joined with the next."""
    held, is_foreign = "", False
    for line in text.replace("\r\n", "\n").split("\n")[:_MOST_LINES]:
        item = _LIST.match(line)
        heads = _heads_foreign(line)
        if is_foreign or heads:
            is_foreign = bool(line.strip()) and (is_foreign or heads)
            if held:
                yield held
            held = ""
            continue
        is_prose = _is_prose(line)
        if (
            held
            and is_prose
            and not item
            and len(held) >= _WRAPPED
            and line.strip()[:1].islower()
            and held[-1] not in ".!?:"
        ):
            held = f"{held} {line.strip()}"
            continue
        if held:
            yield held
        held = line[item.end() if item else 0 :].strip() if is_prose else ""
    if held:
        yield held


def _heads_foreign(line: str) -> bool:
    """Return whether a line introduces someone else's words, below it or behind its colon."""
    found = _HEADS_FOREIGN.match(line.strip()[:_LINE])
    return found is not None and not found["rest"].startswith("//")


def _is_prose(line: str) -> bool:
    """Return whether a line is part of a sentence by a person."""
    if not line.strip() or len(line) > _LINE or _MARK in line or _FOREIGN.match(line):
        return False
    signs = len(_CODE_LIKE.findall(line))
    return signs <= 4 or signs * 8 <= len(line)


def _is_code(sentence: str) -> bool:
    """Return whether a sentence is a line of a program, ignoring text in backticks."""
    if _NO_SENTENCE.match(sentence):
        return True
    plain = _SPAN.sub("", sentence)
    return len(_CODE_SIGN.findall(plain)) >= _MOST_SIGNS or _CODE_WORD.search(plain) is not None


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; single words are joined with the sentence before."""
    held = ""
    for piece in _pieces(line):
        if held and len(_WORD.findall(piece)) < _FEW and not _REFUSED.match(piece):
            held = f"{held} {piece}"
            continue
        if held and len(held) <= _SENTENCE:
            yield held
        held = piece
    if held and len(held) <= _SENTENCE:
        yield held


def _bare(sentence: str) -> str:
    """Return a sentence without words of address before it and thanks behind it."""
    bare = _CLOSING.sub("", _opened(sentence)) if sentence else ""
    return bare or sentence


def _opened(sentence: str) -> str:
    found = _OPENING.match(sentence)
    return sentence[found.end() :] if found else sentence


def _pieces(line: str) -> Iterator[str]:
    begun = 0
    for end in _END.finditer(line):
        if _ABBREVIATED.search(line, begun, end.start()):
            continue
        if piece := line[begun : end.start()].strip():
            yield piece
        begun = end.end()
    if piece := line[begun:].strip():
        yield piece
