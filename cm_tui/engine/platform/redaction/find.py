"""Finding secrets: in the plain text, with broken lines joined, without diff signs, and inside of base64."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from cm_tui.engine.platform.redaction.assignments import NAMES, find_assigned
from cm_tui.engine.platform.redaction.encoded import find_encoded
from cm_tui.engine.platform.redaction.forms import find_forms
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.key_blocks import find_blocks
from cm_tui.engine.platform.redaction.kinds import DONE, is_cut
from cm_tui.engine.platform.redaction.marked_lines import unmarked
from cm_tui.engine.platform.redaction.places import find_places
from cm_tui.engine.platform.redaction.repeated import find_again, values_in
from cm_tui.engine.platform.redaction.shapes import find_shaped
from cm_tui.engine.platform.redaction.strength import goes_on
from cm_tui.engine.platform.redaction.wrapped import Joined, join
from cm_tui.engine.platform.redaction.written import as_read

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
    again = find_again(text, values, {span.start for span in found})
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
    yield from find_forms(text, lowered)
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
        yield from _kept(joined, found, found.start if start in known else _first_behind(joined, found))
    if not any(map(joined.goes_on, range(len(joined.at)))):
        return
    for found in (*_named(joined.text, _lower(joined.text), _DEPTH), *find_blocks(joined.text)):
        yield from _kept(joined, found, found.start)


def _first_behind(joined: Joined, found: Found) -> int:
    """Where the last break lies within a shape that is complete only behind it."""
    breaks = joined.breaks(found.start, found.end)
    return joined.at[breaks[-1]] + 1 if breaks else found.start


def _kept(joined: Joined, found: Found, least: int) -> Iterator[Found]:
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
