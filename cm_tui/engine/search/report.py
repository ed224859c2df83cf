"""Long queries, such as pasted bug reports: taken apart into title, prose, code, traces, errors and what says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

MOST_CHARS = 100_000
"""A longer text is read this far."""
_LONG = 300
"""Characters from which on a text of several lines is read as a report."""
_MOST_FRAMES = 60

Kind = Literal["title", "prose", "name", "code", "output", "error", "trace", "diff", "environment", "heading"]
"""What a stretch of a report is; `name` is code inside a sentence."""


WEIGHTS: dict[Kind, float] = {
    "title": 0.9, "name": 0.7, "error": 0.7, "prose": 0.3, "diff": 0.3, "code": 0.2, "trace": 0.1, "output": 0.05,
    "environment": 0.01, "heading": 0.0,
}  # fmt: skip
"""What a word of a part counts; one of several parts counts as much as if each had a chance to be meant."""


class Part(NamedTuple):
    """A stretch of a report."""

    kind: Kind
    text: str


class Frame(NamedTuple):
    """A place that a trace or a log names."""

    path: str
    line: int
    function: str
    """Without what qualifies it; empty: it is not said."""


@dataclass(frozen=True, slots=True)
class Report:
    """A long query, taken apart."""

    title: str
    parts: tuple[Part, ...]
    frames: tuple[Frame, ...]
    """The innermost first."""

    def texts(self, *kinds: Kind) -> list[str]:
        """Return the stretches of some kinds, in order."""
        return [part.text for part in self.parts if part.kind in kinds]


    def paths(self) -> list[str]:
        """Return what looks like paths of files in its sentences."""
        text = "\n".join(self.texts("title", "prose", "name"))
        found = (one.replace("\\", "/").lstrip("./") for one in _NAMED_PATH.findall(text))
        return list(dict.fromkeys(one for one in found if "/" in one or one.rpartition(".")[2].islower()))

    def spoken(self) -> list[str]:
        """Return the texts whose meaning is asked for: title, errors, the first sentences, and all of that at once."""
        prose = " ".join(" ".join(self.texts("prose")).split())
        sentences = [one for one in re.split(r"(?<=[.!?])\s+", prose) if len(one) >= 30][:5]
        whole = " ".join([self.title, *self.texts("error")[:1], prose])[:600]
        return list(dict.fromkeys([self.title, *self.texts("error")[-2:], *sentences, whole]))


_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+#.-]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|In ?\[\d*\]:|\$|%|PS [^>]*>|(?:i?rb|irb)\([^)]*\)[^>]*>|[\w.-]+@[\w.-]+[:~][^$#]*[$#])\s?")
_OUT = re.compile(r"\s*Out ?\[\d*\]:\s?")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*_]+?)(?:\*\*|__)\s*:?|(?P<colon>[^\W\d][^.!?:`(){}=]{2,48}):)\s*$")
_TEMPLATE = frozenset(
    "describe description bug issue problem summary title overview reproduce reproducing reproduction repro steps step expected "
    "expect actual behavior behaviour result results output outputs current environment env version versions platform system "
    "setup info information context additional screenshots screenshot logs log traceback stack trace backtrace example examples "
    "sample code minimal mwe mcve checklist happened happens what how why the to a an of and or is are did do you your it i in for "
    "was does this that this's relevant details detail notes note other anything else possible solution workaround suggestion "
    "suggested fix affected component area type feature request proposal motivation question installed package packages os "
    "comments comment changed modified history reported report original full error errors message please provide test case self "
    "contained snippet command script related links link".split()
)
"""Words of the headings that templates of reports are made of."""
_ENVIRONMENT_HEADING = re.compile(r"\b(?:environment|versions?|platform|system|setup|installed|packages?)\b", re.IGNORECASE)
_ENVIRONMENT = re.compile(
    r"\s*[-*|>\s]*(?:\*\*)?(?:os|operating system|platform|system|browser|machine|arch(?:itecture)?|kernel|shell|terminal|cpu|gpu|ram|"
    r"(?:[\w.+-]+ )?versions?|python|node(?:\.?js)?|npm|yarn|java|jdk|jvm|go|rustc?|cargo|ruby|php|dotnet|gcc|clang|docker|"
    r"linux|ubuntu|debian|windows|macos|mac os|darwin|commit|branch|release)(?:\*\*)?\s*[:=|]\s*\S.*$"
    r"|\s*[-*]?\s*[\w.\[\]-]+\s*(?:==|:|@)\s*v?\d+(?:\.\d+)+\S*\s*$",
    re.IGNORECASE,
)  # fmt: skip
_CHECKBOX = re.compile(r"\s*[-*+]\s*\[[ xX]\]")
_URL = re.compile(r"\b(?:https?|ftp)://[^\s)>\]\"'`]+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_MENTION = re.compile(r"(?<![\w`/.])@[\w-]+\b(?!\.)")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200})\1(?!`)")

_ERROR = re.compile(
    r"\s*(?:E\s{2,}|Caused by: |Exception in thread \"[^\"]*\" |Uncaught (?:\(in promise\) )?|Unhandled \w+ |thread '[^']*' )?"
    r"(?:(?P<kind>(?:[A-Za-z_][\w$]*(?:\.|::|\\|/))*[A-Z]\w*(?:Error|Exception|Warning|Fault|Panic|Failure|Interrupt|Exit|NotFound|Denied|Invalid))"
    r"(?::\s*(?P<text>.*))?"
    r"|(?:fatal )?error(?:\[\w+\]| \w{1,3}\d{2,6})?:\s+(?P<plain>\S.*)|panic(?:ked at|:)\s*(?P<panic>\S.*)|fatal:\s+(?P<fatal>\S.*)"
    r"|AssertionError|assertion failed:?\s*(?P<assert>.*))\s*$"
)
_PATH = r"(?:[A-Za-z]:)?[^\s\"'<>|:*?()\[\],;=]*[^\s\"'<>|:*?()\[\],;=/\\.]\.[A-Za-z][A-Za-z0-9+]{0,5}"
_NAMED_PATH = re.compile(r"(?<![\w@])(?:[\w.~-]+[/\\])*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,5}\b(?!\()")
_FRAMES = (
    # Python; then Ruby, and Python as pytest and IPython print it.
    re.compile(rf"\s*File \"(?P<path>[^\"]+)\", line (?P<line>\d+)(?:, in (?P<function>[\w<>.$]+))?"),
    re.compile(rf"\s*(?:from )?(?P<path>{_PATH}):(?P<line>\d+):(?:\d+:)? in [`'](?:block (?:\(\d+ levels\) )?in )?(?:.*[#.])?(?P<function>[\w?!]+)['`]"),
    re.compile(rf"\s*(?P<path>{_PATH}):(?P<line>\d+):? in (?P<function>[\w<>]+)"),
    re.compile(rf"\s*(?P<path>{_PATH}) in (?P<function>[\w<>]+)\(.*\)(?P<line>)\s*$"),
    # JavaScript; C#; Java and its kin; PHP.
    re.compile(rf"\s*at (?:async )?(?:new )?(?:(?P<function>[\w$.<>\[\] ]+?) (?:\[as \w+\] )?\()?(?:file://)?(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?\)?\s*$"),
    re.compile(rf"\s*at (?P<function>[\w.`<>\[\],+]+)\(.*?\)(?: in (?P<path>{_PATH}):line (?P<line>\d+))"),
    re.compile(rf"\s*at (?P<function>[\w.$/<>@]+)\((?P<path>[\w$]+\.\w+):(?P<line>\d+)\)"),
    re.compile(rf"\s*#\d+ (?P<path>{_PATH})\((?P<line>\d+)\): (?P<function>[\w\\:>-]+)"),
    # gdb and sanitizers; Rust and Go give the place on a line of its own.
    re.compile(rf"\s*#\d+\s+(?:0x[0-9a-f]+ )?(?:in )?(?P<function>[\w:~<>]+).*?(?: at | )(?P<path>{_PATH}):(?P<line>\d+)"),
    re.compile(rf"\s*(?:at )?(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?(?: \+0x[0-9a-f]+)?(?P<function>)\s*$"),
    # Compilers and linters, pytest's last line.
    re.compile(rf"\s*(?:--> |E? *)?(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?:(?P<function>)\s+\S"),
)  # fmt: skip
_ABOVE = re.compile(r"\s*(?:\d+:\s+)?(?P<function>[\w./*()$:<>-]+?)(?:\(.*\))?\s*$")
_TRACE_HEAD = re.compile(
    r"\s*(?:Traceback \(most recent call last\)|Stack ?trace|Backtrace|During handling of the above|The above exception was|goroutine \d+|"
    r"-{20,}$|stack backtrace:)",
    re.IGNORECASE,
)
_ECHO = re.compile(r"\s*(?:-{2,}>\s*)?\d+\s|\s+[\^~]+\s*$|\s{4,}\S|\s*\.\.\. *\d+ ")
_CODE_LIKE = re.compile(r"[;{}]\s*$|^\s*(?:import|from|def|class|func|fn|let|const|var|public|private|return|if|for|while|use|package|#include)\b|\w\(.*\)\s*[;:{]?\s*$|^\s*[\w.\[\]'\", ]+ :?= ")


def is_report(text: str) -> bool:
    """Return whether a query is too long for a question: it is taken apart instead."""
    return len(text) > _LONG and ("\n" in text.strip() or len(text) > 2 * _LONG) or len(text) > _LONG // 3 and text.strip().count("\n") >= 3


def read(text: str) -> Report:
    """Take a long query apart; every line belongs to one part."""
    parts: list[Part] = []
    frames: list[tuple[int, Frame, bool]] = []
    lines = _COMMENT.sub("", text[:MOST_CHARS].replace("\0", " ")).expandtabs(4).splitlines()
    for kind, line, in _kinds(lines, frames):
        if parts and parts[-1].kind == kind and kind not in ("error", "title"):
            parts[-1] = Part(kind, f"{parts[-1].text}\n{line}")
        else:
            parts.append(Part(kind, line))
    parts = [more for part in parts for more in _inline(part)]
    title = next((part.text for part in parts if part.kind == "title"), "")
    return Report(title, tuple(parts), _ordered(frames))


def _kinds(lines: list[str], frames: list[tuple[int, Frame, bool]]) -> Iterator[tuple[Kind, str]]:
    """Yield what each line is, and note the places that it names."""
    fence: str | None = None
    prompted = False
    titled = environment = trace = False
    before: Kind = "prose"
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened:
            fence = opened.group(1).lower() if fence is None else None
            trace = prompted = False
            before = "prose"
            continue
        prompted = prompted or _PROMPT.match(line) is not None
        kind = _kind(line, fence, before, trace=trace, environment=environment, prompted=prompted)
        frame = _frame(line, lines[number - 1] if number else "")
        if frame is not None and kind != "diff":
            kind = "trace"
            frames.append((number, *frame))
        elif _TRACE_HEAD.match(line):
            kind = "trace"
        trace = kind in ("trace", "error") or trace and bool(line.strip()) and kind in ("trace", "code", "output")
        if kind == "heading":
            environment = _ENVIRONMENT_HEADING.search(line) is not None
        if not line.strip():
            before = before if fence is not None else "prose"
            continue
        if kind == "prose" and not titled:
            kind, titled = "title", True
        before = kind
        yield kind, line.strip() if kind in ("title", "error") else line


def _kind(line: str, fence: str | None, before: Kind, *, trace: bool, environment: bool, prompted: bool) -> Kind:
    """What a line is, by itself and by what stands before it."""
    if _ERROR.match(line):
        return "error"
    if fence in ("diff", "patch") or line.startswith(("diff --git ", "@@ ", "--- a/", "+++ b/")):
        return "diff"
    if trace and (_ECHO.match(line) or fence is not None and not line.startswith((">>>", "In ["))):
        return "trace"
    if _PROMPT.match(line):
        return "code"
    if _OUT.match(line):
        return "output"
    if fence is not None:
        return "output" if prompted else "code"
    if line.startswith("    ") and line.strip() and before in ("code", "output", "prose", "trace"):
        return "code" if before != "output" else "output"
    if _CHECKBOX.match(line) or _is_template(line):
        return "heading"
    if environment or _ENVIRONMENT.match(line):
        return "environment"
    return "output" if before == "code" and not re.search(r"[.?!]\s*$|\w+ \w+ \w+ \w+", line) else "prose"


def _is_template(line: str) -> bool:
    """Return whether a line is a heading of words that templates are made of."""
    heading = _HEADING.match(line)
    if heading is None:
        return False
    words = re.findall(r"[A-Za-z']+", heading["marked"] or heading["bold"] or heading["colon"] or "")
    return bool(words) and len(words) <= 10 and all(word.lower() in _TEMPLATE for word in words)


def _frame(line: str, above: str) -> tuple[Frame, bool] | None:
    """The place that a line names, and whether its trace has the innermost call last."""
    for number, pattern in enumerate(_FRAMES):
        if found := pattern.match(line):
            path = found["path"].replace("\\", "/")
            function = found["function"] or ""
            if not function and number == 9 and (named := _ABOVE.match(above)):
                function = named["function"]
            last = re.split(r"[.:>\\/#$ ]+", function.removesuffix("<>").rstrip("()"))[-1] if function else ""
            last = last if re.fullmatch(r"[^\W\d]\w*[?!]?", last) else ""
            return Frame(path, int(found["line"] or 0), last), number in (0, 2, 3)
    return None


def _ordered(frames: list[tuple[int, Frame, bool]]) -> tuple[Frame, ...]:
    """Frames, the innermost of each run first; those of later runs first, as the last trace says what broke."""
    runs: list[list[tuple[int, Frame, bool]]] = []
    for one in frames:
        near = runs and one[0] - runs[-1][-1][0] <= 12 and one[2] == runs[-1][-1][2]
        if near:
            runs[-1].append(one)
        else:
            runs.append([one])
    found: dict[Frame, None] = {}
    for run in reversed(runs):
        for _, frame, last_is_innermost in reversed(run) if run[0][2] else run:
            found.setdefault(frame)
    return tuple(found)[:_MOST_FRAMES]


def _inline(part: Part) -> Iterator[Part]:
    """A part, and what stands in it as code; links and mentions of people say nothing."""
    if part.kind not in ("title", "prose"):
        yield part
        return
    text = _MENTION.sub(" ", _URL.sub(" ", _LINK.sub(r"\1", part.text)))
    yield Part(part.kind, text)
    for found in _INLINE.finditer(text):
        yield Part("name", found[2])
