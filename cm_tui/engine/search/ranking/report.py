"""Long queries, such as bug reports: split into title, sentences, code, traces, errors and irrelevant text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.frames import Found, Frame, frame_in, ordered
from cm_tui.engine.search.ranking.wording import Wording

MOST_CHARS = 100_000
"""A longer text is read this far."""
_LONG = 300
"""Least characters of a report of several lines; a paragraph has to be twice as long."""
_MANY_LINES = 4
"""Lines from which on a third of that is enough."""
_MOST_TITLE = 200
_MOST_LINE = 500
"""Characters of a line that identify its kind."""
_SENTENCES = 5
_LEAST_SENTENCE = 30
_MOST_SPOKEN = 600

Kind = Literal["title", "prose", "name", "code", "output", "error", "trace", "diff", "environment", "heading"]
"""Kind of a part; `name` is code inside a sentence."""

WEIGHTS: dict[Kind, float] = {
    "title": 0.9, "name": 0.7, "error": 0.7, "prose": 0.3, "diff": 0.3, "code": 0.2, "trace": 0.1, "output": 0.05,
    "environment": 0.01, "heading": 0.0,
}  # fmt: skip
"""Weight of a word by part; for a word in several parts they are combined like independent chances."""
NAMES: dict[Kind, str] = {
    "title": "title", "name": "code in a sentence", "error": "error", "prose": "text", "diff": "diff", "code": "code",
    "trace": "trace", "output": "output", "environment": "environment", "heading": "heading",
}  # fmt: skip
"""Name of a part in the explanation of a score."""


class Part(NamedTuple):
    """A stretch of a report."""

    kind: Kind
    text: str


class ReportTerm(NamedTuple):
    """What an index term of a report counts."""

    weight: float
    """From 0 to 1."""
    kind: Kind
    """The part that gives it most."""


@dataclass(frozen=True)
class Report:
    """A long query, taken apart."""

    title: str
    parts: tuple[Part, ...]
    frames: tuple[Frame, ...]
    """The innermost first."""
    is_cut: bool = False
    """Whether it ends inside a trace that has its innermost frame last: that frame is unknown."""

    def texts(self, *kinds: Kind) -> list[str]:
        """Return the stretches of some kinds, in order."""
        return [part.text for part in self.parts if part.kind in kinds]

    @cached_property
    def words(self) -> list[list[str]]:
        """Return the content words of each part."""
        return [tokens.content_words(part.text) for part in self.parts]

    @cached_property
    def _terms(self) -> dict[Wording, dict[str, ReportTerm]]:
        return {}

    def terms(self, wording: Wording) -> Mapping[str, ReportTerm]:
        """Return the index terms of relevant parts."""
        if wording not in self._terms:
            found: dict[str, ReportTerm] = {}
            for part, words in zip(self.parts, self.words, strict=True):
                weight = WEIGHTS[part.kind]
                for term in (term for word in (wording.kept(words) if weight else ()) for term in wording.split(word)):
                    known = found.get(term, _NO_TERM)
                    kind = part.kind if weight > WEIGHTS[known.kind] else known.kind
                    found[term] = ReportTerm(1.0 - (1.0 - known.weight) * (1.0 - weight), kind)
            self._terms[wording] = found
        return self._terms[wording]

    def paths(self) -> list[str]:
        """Return what looks like paths of files in its sentences."""
        found = (one.replace("\\", "/") for one in _NAMED_PATH.findall("\n".join(self.texts("title", "prose", "name"))))
        return list(dict.fromkeys(one for one in found if "/" in one or one.rpartition(".")[2].islower()))

    def embedding_texts(self) -> list[str]:
        """Return the texts to embed: title, errors, the first sentences, and all of that together."""
        prose = " ".join(" ".join(self.texts("prose")).split())
        sentences = [one for one in _SENTENCE_END.split(prose) if len(one) >= _LEAST_SENTENCE][:_SENTENCES]
        whole = " ".join([self.title, *self.texts("error")[:1], prose])[:_MOST_SPOKEN]
        return list(dict.fromkeys([self.title, *self.texts("error")[-2:], *sentences, whole]))

    def described(self, terms: int) -> str:
        """Return a description of its parts.

        Args:
            terms: number of words to search.
        """
        found = [count(len(self.frames), "frame")] if self.frames else []
        errors = len(self.texts("error"))
        found += [count(errors, "error")] if errors else []
        return f"Read as a report: {', '.join([*found, count(terms, 'term')])}."


_NO_TERM = ReportTerm(0.0, "heading")
_LONG_BLANK = re.compile(r" {17,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+#.-]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PROMPT = re.compile(
    r"\s*(?:>>>|\.\.\.|In ?\[\d*\]:|[$%](?= )|PS [^>]*>|irb\([^)]*\)[^>]*>|[\w.-]+@[\w.-]+[:~][^$#]*[$#])\s?"
)
_OUT = re.compile(r"\s*Out ?\[\d*\]:\s?")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*_]+?)(?:\*\*|__)\s*:?"
    r"|(?P<colon>[^\W\d][^.!?:`(){}=]{2,48}):)\s*$"
)
_TEMPLATE = tokens.word_list("template")
_ENVIRONMENT_HEADING = re.compile(
    r"\b(?:environment|versions?|platform|system|setup|installed|packages?)\b", re.IGNORECASE
)
_ENVIRONMENT = re.compile(
    r"(?i)\s*[-*|>\s]*(?:\*\*)?(?:os|operating system|platform|system|browser|machine|arch(?:itecture)?|kernel|shell|terminal|cpu|gpu|ram"
    r"|(?:[\w.+-]+ )?versions?|python|node(?:\.?js)?|npm|yarn|java|jdk|jvm|go|rustc?|cargo|ruby|php|dotnet|gcc|clang|docker"
    r"|linux|ubuntu|debian|windows|macos|mac os|darwin|commit|branch|release)(?:\*\*)?\s*[:=|]\s*\S.*$"
    r"|\s*[-*]?\s*[\w.\[\]-]+\s*(?:==|:|@)\s*v?\d+(?:\.\d+)+\S*\s*$"
)
_CHECKBOX = re.compile(r"\s*[-*+]\s*\[[ xX]\]")
_URL = re.compile(r"\b(?:https?|ftp)://[^\s)>\]\"'`]+")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)")
_MENTION = re.compile(r"(?<![\w`/.])@[\w-]+\b(?!\.\w)")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200})\1(?!`)")
_NAMED_PATH = re.compile(r"(?<![\w@])(?:[\w.~-]{1,100}[/\\]){0,20}[\w-][\w.-]{0,100}\.[A-Za-z][A-Za-z0-9]{0,5}\b(?!\()")
_ERROR = re.compile(
    r"\s*(?:E\s{2,}|Caused by: |Exception in thread \"[^\"]*\" |Uncaught (?:\(in promise\) )?|Unhandled \w+ |thread '[^']*' )?"
    r"(?:(?:[A-Za-z_][\w$]*(?:\.|::|\\|/)){0,12}[A-Z]\w*"
    r"(?:Error|Exception|Warning|Fault|Panic|Failure|Interrupt|Exit|NotFound|Denied|Invalid)(?::\s*.*)?"
    r"|(?:fatal )?error(?:\[\w+\]| \w{1,3}\d{2,6})?:\s+\S.*|panic(?:ked at|:)\s*\S.*|fatal:\s+\S.*|assertion failed:?\s*.*"
    r"|(?:\S+ ){0,4}panic (?:serving|recovered)\S*.*|runtime error:\s+\S.*)\s*$"
)
_TRACE_HEAD = re.compile(
    r"(?i)\s*(?:Traceback \(most recent call last\)|Stack ?trace|Backtrace|During handling of the above|The above exception was"
    r"|goroutine \d+|-{20,}$|stack backtrace:)"
)
_ECHO = re.compile(r"\s*(?:-{2,}>\s*)?\d+\s|\s+[\^~]+\s*$|\s{4,}\S|\s*\.\.\. *\d+ ")
"""Source that a trace repeats below its frames."""
_SENTENCE = re.compile(r"[.?!]\s*$|\w+ \w+ \w+ \w+")


def is_report(text: str) -> bool:
    """Return whether a query is too long for a question: it is taken apart instead."""
    # Terminals paste lines that end with a carriage return.
    lines = len(text.strip().splitlines())
    if lines <= 1:
        return len(text) > 2 * _LONG
    return len(text) > (_LONG // 3 if lines >= _MANY_LINES else _LONG)


@lru_cache(maxsize=4)
def read(text: str) -> Report:
    """Split a long query; every relevant line belongs to one part."""
    reader = _Reader()
    for line in _COMMENT.sub("", text[:MOST_CHARS].replace("\0", " ")).expandtabs(4).rstrip().splitlines():
        reader.take(line)
    parts = tuple(more for part in reader.parts for more in _inline(part))
    titles = [part.text for part in parts if part.kind in ("title", "error")] or [part.text for part in parts]
    title = next((part.text for part in parts if part.kind == "title"), titles[-1] if titles else text.strip())
    is_cut = reader.before == "trace" and bool(reader.frames) and reader.frames[-1].innermost_last
    return Report(title[: 2 * _MOST_TITLE], parts, ordered(reader.frames), is_cut)


@dataclass(slots=True)
class _Reader:
    """Classifies each line by itself and the lines above it."""

    parts: list[Part] = field(default_factory=list)
    frames: list[Found] = field(default_factory=list)
    number: int = 0
    above: str = ""
    before: Kind = "prose"
    fence: str | None = None
    """Language of the block of code that the line is in; None: it is in none."""
    is_prompted: bool = False
    """Whether that block shows typed input, so that the rest of it is output."""
    is_titled: bool = False
    in_trace: bool = False
    in_environment: bool = False

    def take(self, line: str) -> None:
        """Put a line to its part."""
        self.number += 1
        short = _LONG_BLANK.sub(" " * 16, line[:_MOST_LINE])
        if opened := _FENCE.match(short):
            self.fence = opened[1].lower() if self.fence is None else None
            self.in_trace = self.is_prompted = False
            self.before = "prose"
        elif not line.strip():
            self.in_trace = False
            self.before = self.before if self.fence is not None else "prose"
        else:
            self._put(self._kind(short), line)
        self.above = short

    def _put(self, kind: Kind, line: str) -> None:
        self.in_trace = kind in ("trace", "error")
        if kind == "heading":
            self.in_environment = _ENVIRONMENT_HEADING.search(line[:_MOST_LINE]) is not None
        self.before = kind
        if not self.is_titled and kind in ("prose", "error") and self.fence is None:
            self.is_titled = True
            first, rest = _first_sentence(line.strip())
            self.parts.append(Part("title", first))
            kind, line = ("error", line) if kind == "error" else ("prose", rest)
        if not line:
            return
        if self.parts and self.parts[-1].kind == kind != "error":
            self.parts[-1] = Part(kind, f"{self.parts[-1].text}\n{line}")
        else:
            self.parts.append(Part(kind, line.strip() if kind == "error" else line))

    def _kind(self, line: str) -> Kind:
        is_diff = self.fence in ("diff", "patch") or line.startswith(("diff --git ", "@@ ", "--- a/", "+++ b/"))
        if not is_diff and (found := frame_in(self.number, line, self.above)):
            self.frames.append(found)
            return "trace"
        if _TRACE_HEAD.match(line):
            return "trace"
        if _ERROR.match(line):
            return "error"
        if is_diff:
            return "diff"
        return self._of_block(line) or self._of_text(line)

    def _of_block(self, line: str) -> Kind | None:
        """The kind of a line of code, output or a trace; None: none of them."""
        is_typed = _PROMPT.match(line) is not None
        if self.in_trace and not is_typed and (self.fence is not None or _ECHO.match(line)):
            return "trace"
        if is_typed:
            self.is_prompted = self.fence is not None
            return "code"
        if _OUT.match(line):
            return "output"
        if self.fence is not None:
            return "output" if self.is_prompted else "code"
        if line.startswith("    "):
            return "output" if self.before == "output" else "code"
        return None

    def _of_text(self, line: str) -> Kind:
        if _CHECKBOX.match(line) or _is_template(line):
            return "heading"
        if self.in_environment or _ENVIRONMENT.match(line):
            return "environment"
        return "output" if self.before == "code" and not _SENTENCE.search(line) else "prose"


def _first_sentence(line: str) -> tuple[str, str]:
    """A line as it is, or its first sentence and the rest, if it is a whole paragraph."""
    if len(line) <= _MOST_TITLE:
        return line, ""
    end = _SENTENCE_END.search(line)
    at = end.start() if end and end.start() <= _MOST_TITLE else line.rfind(" ", 1, _MOST_TITLE)
    at = at if at > 0 else _MOST_TITLE
    return line[:at], line[at:].strip()


def _is_template(line: str) -> bool:
    """Return whether a line is a heading made of template words."""
    heading = _HEADING.match(line)
    if heading is None:
        return False
    words = re.findall(r"[A-Za-z]+", heading["marked"] or heading["bold"] or heading["colon"] or "")
    return bool(words) and len(words) <= 10 and all(word.lower() in _TEMPLATE or len(word) == 1 for word in words)


def _inline(part: Part) -> Iterator[Part]:
    """A part, and the code in it; links and mentions of people are ignored."""
    if part.kind not in ("title", "prose"):
        yield part
        return
    text = _MENTION.sub(" ", _URL.sub(" ", _LINK.sub(r"\1", part.text)))
    yield Part(part.kind, text)
    for found in _INLINE.finditer(text):
        yield Part("name", found[2])
