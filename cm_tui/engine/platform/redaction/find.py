r"""Finding secrets: in the plain text, with broken lines joined, without diff signs, and inside of base64.

Joining lines that were broken in the middle of a word, with the mapping back to the text.

A terminal breaks at its last column, a shell line ends in a backslash, quoted-printable mail in `=`, configuration
continues in an indented line, a diff puts a sign before each line, JSON writes `\n`.
"""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from cm_tui.engine.platform.redaction.assignments import NAMES, find_assigned
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.key_blocks import find_blocks
from cm_tui.engine.platform.redaction.kinds import DONE, SHAPES, SHORTEST, Shape, is_cut
from cm_tui.engine.platform.redaction.pattern import ByWord, Pattern, compiled
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference
from cm_tui.engine.platform.redaction.places import find_places
from cm_tui.engine.platform.redaction.repeated import find_repeated, values_in
from cm_tui.engine.platform.redaction.strength import goes_on
from cm_tui.engine.platform.redaction.view import as_read, unmarked

# --- every value of a Kubernetes secret: https://kubernetes.io/docs/concepts/configuration/secret/ ---

_KUBERNETES = Pattern(r"(?m)^[+ -]?[ \t]{0,40}[\"']?kind[\"']?:[ \t]*[\"']?Secret[\"']?[ \t,]*\r?$")
_DATA = Pattern(r"(?m)^[+ -]?([ \t]{0,40})[\"']?(?:data|stringData)[\"']?:[ \t]*(?:\{[ \t]*)?\r?\n")
_ENTRY = Pattern(
    r"[+ -]?([ \t]+)[\"']?[\w./-]+[\"']?:[ \t]*[\"']?([^\s\"',|>#][^\n\"',#]*?)[\"']?,?[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)"
)
_MOST_BEFORE = 4_000
_JSON = Pattern(r"\"kind\"[ ]?:[ ]?\"Secret\"")
_JSON_DATA = Pattern(r"\"(?:data|stringData)\"[ ]?:[ ]?\{(?P<entries>[^{}\n]{1,4000})\}")
_JSON_ENTRY = Pattern(r"\"[\w./-]{1,200}\"[ ]?:[ ]?\"(?P<value>[^\"\n]{1,4000})\"")


def find_kubernetes(text: str, lowered: str) -> Iterator[Found]:
    """Yield the values of secrets in YAML and in JSON. `lowered`: the text in lower case."""
    if "kind" in lowered and "secret" in lowered:
        yield from _in_yaml(text)
        yield from _on_one_line(text)


def _in_yaml(text: str) -> Iterator[Found]:
    """Yield the values of secrets that are several lines."""
    done = 0
    for kind in _KUBERNETES.finditer(text):
        if kind.start() < done:
            # Of a document that was looked through: its end is not sought again.
            continue
        begin = max(done, text.rfind("\n---", done, kind.start()) + 1, kind.start() - _MOST_BEFORE)
        stop = text.find("\n---", kind.end())
        stop = len(text) if stop < 0 else stop
        for data in _DATA.finditer(text, begin, stop):
            at = data.end()
            while (entry := _ENTRY.match(text, at)) is not None and len(entry[1]) > len(data[1]):
                if not is_reference(entry[2]) and not is_placeholder(entry[2]):
                    yield Found(*entry.span(2), "kubernetes secret")
                at = entry.end()
        done = stop


def _on_one_line(text: str) -> Iterator[Found]:
    """Yield the values of secrets that are one line of JSON."""
    done = 0
    for kind in _JSON.finditer(text):
        if kind.start() < done:
            continue
        begin = max(
            done, text.rfind("\n", max(0, kind.start() - _MOST_BEFORE), kind.start()) + 1, kind.start() - _MOST_BEFORE
        )
        stop = text.find("\n", kind.end(), kind.end() + _MOST_BEFORE)
        stop = min(len(text), kind.end() + _MOST_BEFORE) if stop < 0 else stop
        for data in _JSON_DATA.finditer(text, begin, stop):
            for entry in _JSON_ENTRY.finditer(text, *data.span("entries")):
                if not (is_placeholder(entry["value"]) or is_reference(entry["value"])):
                    yield Found(*entry.span("value"), "kubernetes secret")
        done = stop


# --- finding secrets ---

_INSIDE = r"[A-Za-z0-9+/_.~=:@%$-]"
_BREAK = Pattern(
    rf"(?<={_INSIDE})(?P<mark>\\|=)?(?P<end>\r?\n|\\{{1,4}}r?\\{{0,4}}n)(?P<sign>[+>|#-]{{0,3}})[ \t]{{0,100}}+(?={_INSIDE})"
)
_BEGINS = Pattern(r"[\\=\r\n]")
"""First characters of a break."""
_NAMED = Pattern(r"[A-Za-z_][\w.-]*+=[^=]")
_WORDS_END = Pattern(r"[A-Za-z0-9+/_~=.%-]*+")


class Joined(NamedTuple):
    """A text without its breaks."""

    text: str
    at: list[int]
    """Where in it a break was, in order."""
    taken: list[int]
    """How much was taken out up to and with each of them."""
    sure: list[bool]
    """Whether a break marks the line as continued."""

    def breaks(self, start: int, end: int) -> range:
        """Return which breaks lie inside of a part."""
        return range(bisect_right(self.at, start), bisect_right(self.at, end - 1))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of the original text for a part of this one."""
        before, upto = bisect_right(self.at, start), bisect_right(self.at, end - 1)
        return start + (self.taken[before - 1] if before else 0), end + (self.taken[upto - 1] if upto else 0)

    def goes_on(self, number: int) -> bool:
        """Return whether the text after a break may be a continuation; otherwise nothing before it is incomplete."""
        return self.sure[number] or goes_on(self.word_at(self.at[number]))

    def word_at(self, start: int) -> str:
        """Return the text at a place up to the end of the word; empty if it is a separate name."""
        found = _WORDS_END.match(self.text, start, start + 400)
        if found is None or self.text[found.end() : found.end() + 1] in {":", "("} or _NAMED.match(found[0]):
            return ""
        return found[0]


def join(text: str) -> Joined | None:
    """Return a text without breaks that may be within a word; None: there are none."""
    pieces: list[str] = []
    at: list[int] = []
    taken: list[int] = []
    sure: list[bool] = []
    last = length = 0
    for found in _BREAK.from_signs(_BEGINS, text):
        start, end = found.start(), found.end()
        marks = _marks(found["sign"], text, start)
        if marks < len(found["sign"]):
            # Not the mark of a diff or a quotation, but a part of the word.
            end = found.start("sign") + marks
        piece = text[last:start]
        pieces.append(piece)
        length += len(piece)
        at.append(length)
        taken.append(end - start)
        sure.append(found["mark"] == "\\" and "\n" in found["end"])
        last = end
    if not at:
        return None
    pieces.append(text[last:])
    return Joined("".join(pieces), at, list(accumulate(taken)), sure)


def _marks(signs: str, text: str, at: int) -> int:
    """Number of characters at the beginning of a line that the line before, which ends at a place, begins with, too."""
    if not signs:
        return 0
    line = text.rfind("\n", max(0, at - 2_000), at) + 1
    before = text[line : line + len(signs)]
    return next((number for number in range(len(signs), 0, -1) if before.startswith(signs[:number])), 0)


_FILLED = Pattern(r"[A-Za-z_-]{2,16}?[-_](?:x{8,}+|X{8,}+)")
_LONG = ByWord[Shape](one for one in SHAPES if not one.is_short)
_SHORT = ByWord[Shape](one for one in SHAPES if one.is_short)


def find_shaped(text: str) -> Iterator[Found]:
    """Yield values with the shape of a secret. `text`: the text to search."""
    for rule in _SHORT.wanted(text):
        yield from _matches(rule, text)
    # Nearly all of them are one long word, and most words of a text are short.
    long = "\n".join([word for word in text.split() if len(word) >= SHORTEST])
    for rule in _LONG.wanted(long) if long else ():
        if compiled(rule.pattern).search(long):
            yield from _matches(rule, text)


def _matches(rule: Shape, text: str) -> Iterator[Found]:
    for found in compiled(rule.pattern).finditer(text):
        start, end = found.span("value" if "value" in found.re.groupindex else 0)
        value = text[start:end]
        if not (_is_example(value) or (rule.kind == "password" and _is_no_password(value))):
            yield Found(start, end, rule.kind)


def _is_example(value: str) -> bool:
    """Whether documentation has it in place of a key: `AKIA…EXAMPLE`, `sk-xxxxxxxx`."""
    return value.endswith("EXAMPLE") or _FILLED.fullmatch(value) is not None


def _is_no_password(value: str) -> bool:
    return len(value) < 3 or is_placeholder(value) or is_reference(value) or value[0] in "[({<%*"


_RUN = Pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}+")
_KINDS_OF_SIGNS = (Pattern(r"[A-Z]"), Pattern(r"[a-z]"), Pattern(r"\d"))
"""Signs that base64 of a text has all of; names in programs have digits seldom."""
_TO_STANDARD = str.maketrans("-_", "+/")
_TEXT = 0.7
"""Share of printable signs from which bytes are worth reading as a text."""
_UNPRINTABLE = bytes(range(9)) + bytes(range(14, 32)) + bytes(range(127, 256))


def find_encoded(text: str, find: Callable[[str], Iterator[Found]]) -> Iterator[Found]:
    """Yield runs of base64 that contain a secret, each as a whole.

    `text`: the text to search; `find`: finds secrets in decoded content.
    """
    for run in _RUN.finditer(text):
        if not all(signs.search(run[0]) for signs in _KINDS_OF_SIGNS):
            continue
        kind = _held(run[0].rstrip("="), find)
        if kind:
            yield Found(*run.span(), kind)


def _held(run: str, find: Callable[[str], Iterator[Found]]) -> str:
    """Return the kind of a secret in a run; empty: none. Text before the run may have joined it, as in a path."""
    standard = run.translate(_TO_STANDARD)
    for offset in range(4):
        part = standard[offset:]
        # A character beyond whole bytes belongs to the text after it.
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        held = b64decode(part + "=" * (-len(part) % 4))
        if len(held.translate(None, _UNPRINTABLE)) < _TEXT * len(held):
            continue
        found = next(find(held.decode("utf-8", "replace")), None)
        if found is not None:
            return found.kind
    return ""


_DEPTH = 2
"""How often base64 is looked for within base64."""


def find(text: str, known: Mapping[str, str] | None = None) -> Iterator[Found]:
    """Yield possible secrets in the order of the text, without overlaps.

    Marks of `redact` are skipped, so that nothing is found in a redacted text. `text`: the text to search; `known`:
    kinds of secrets from elsewhere, by value.
    """
    read = [
        Found(*view.original(span.start, span.end), span.kind)
        for view in as_read(text)
        for span in _with_marked(view.text)
    ]
    spans = read + _with_marked(text, {span.start for span in read})
    found = list(_merged(sorted(spans)))
    values = values_in(text, found) | dict(known or {})
    again = find_repeated(text, values, {span.start for span in found})
    return _apart(_merged(sorted([*found, *again])), text)


def _with_marked(text: str, known: Collection[int] = ()) -> list[Found]:
    """Return findings in a text, and in the text without the signs before its lines.

    `text`: the text to search; `known`: starts of earlier findings.
    """
    spans = _all(text, known)
    bare = unmarked(text)
    if bare is not None:
        # A key of several lines, or base64 over several, is whole only without the signs of a diff between them.
        spans += [Found(*bare.original(span.start, span.end), span.kind) for span in _all(bare.text)]
    return spans


def _all(text: str, known: Collection[int] = ()) -> list[Found]:
    """Return findings in the plain text, and with broken lines joined; they may overlap."""
    spans = list(_plain(text, _DEPTH))
    joined = join(text)
    if joined is not None:
        spans += _over_breaks(joined, {span.start for span in spans}.union(known))
    return spans


def _plain(text: str, depth: int) -> Iterator[Found]:
    yield from find_blocks(text)
    yield from find_shaped(text)
    yield from _named(text, _lower(text), depth)


def _named(text: str, lowered: str, depth: int) -> Iterator[Found]:
    if any(name in lowered for name in NAMES):
        yield from find_assigned(text, lowered)
    yield from find_places(text, lowered)
    yield from find_kubernetes(text, lowered)
    if depth:
        yield from find_encoded(text, lambda held: _plain(held, depth - 1))


def _lower(text: str) -> str:
    """Return a text in lower case, sign by sign: a few letters would become two."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(map(_lower_sign, text))


def _lower_sign(sign: str) -> str:
    return lowered if len(lowered := sign.lower()) == 1 else sign


def _over_breaks(joined: Joined, known: set[int]) -> Iterator[Found]:
    """Yield findings that need joined lines.

    The text after a break has to look like a continuation, or complete a shape, as a line may also just end there.
    `known`: starts of earlier findings without joining.
    """
    for found in find_shaped(joined.text):
        start, _ = joined.original(found.start, found.end)
        yield from _extended(joined, found, found.start if start in known else _first_behind(joined, found))
    if not any(map(joined.goes_on, range(len(joined.at)))):
        return
    for found in (*_named(joined.text, _lower(joined.text), _DEPTH), *find_blocks(joined.text)):
        yield from _extended(joined, found, found.start)


def _first_behind(joined: Joined, found: Found) -> int:
    """Where the last break lies within a shape that is complete only behind it."""
    breaks = joined.breaks(found.start, found.end)
    return joined.at[breaks[-1]] + 1 if breaks else found.start


def _extended(joined: Joined, found: Found, least: int) -> Iterator[Found]:
    """Yield a finding up to the last break after which it continues, at least up to a place."""
    end = found.end
    for number in reversed(joined.breaks(found.start, found.end)):
        at = joined.at[number]
        if joined.sure[number] or at < least or goes_on(joined.word_at(at)[: end - at]):
            break
        end = at
    if joined.breaks(found.start, end):
        yield Found(*joined.original(found.start, end), found.kind)


def _merged(spans: Iterable[Found]) -> Iterator[Found]:
    """Yield spans without overlaps; of two overlapping ones the first determines the kind."""
    last: Found | None = None
    for span in spans:
        if last is not None and span.start < last.end:
            last = last._replace(end=max(last.end, span.end))
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _apart(spans: Iterator[Found], text: str) -> Iterator[Found]:
    """Yield spans without the marks that `redact` has left in them."""
    for span in spans:
        start = span.start
        for done in DONE.finditer(text, max(0, span.start - 60), min(len(text), span.end + 60)):
            if done.end() <= span.start or done.start() >= span.end:
                continue
            if not done[0].endswith("]") and (done.end() < len(text) or not is_cut(done[0])):
                continue
            if _has_any(text[start : done.start()]):
                yield Found(start, done.start(), span.kind)
            start = max(start, done.end())
        if start < span.end and _has_any(text[start : span.end]):
            yield Found(start, span.end, span.kind)


def _has_any(piece: str) -> bool:
    return any(map(str.isalnum, piece))
