"""Rows of the history mode: what changed, what was there, the events of a life, and drift."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui import model
from cm_tui.model.dates import age, day, minute
from cm_tui.tui.state.revision import agent_of, before, name_of
from cm_tui.tui.widgets.code_nodes import kind_mark
from cm_tui.tui.widgets.lifeline import life_words, lifeline_of
from cm_tui.tui.widgets.patches import FilePatch, file_patches
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import (
    BETWEEN_HEADINGS,
    count,
    elide_end,
    elide_middle,
    fit,
    name_and_place,
    number_of,
    one_line,
    one_line_signature,
)

CHANGE_MARKS = {
    "added": ("+", "$success"), "removed": ("−", "$error"), "changed": ("~", "$primary"),
    "signature": ("±", "$warning"), "moved": ("→", "$accent"),
}  # fmt: skip
EVENT_MARKS = {
    "came": ("+", "$success"), "returned": ("+", "$success"), "left": ("−", "$error"), "changed": ("~", "$primary"),
    "signature": ("±", "$warning"), "moved": ("→", "$accent"), "unknown": ("?", "$muted"),
}  # fmt: skip
MOST_LIFELINE = 100
"""Cells of a life's commits."""
_ROOM_FOR_PLACE = 40
"""Cells from which on the place of an event stands beside its subject."""
DRIFT_MARKS = {"tombstoned": ("−", "$error"), "drifted": ("~", "$warning"), "unindexed": ("+", "$success")}


@dataclass(frozen=True)
class Spot:
    """A symbol at a revision: what source and callers are read of."""

    key: model.SymbolKey
    at: str | None
    """None: now."""
    line: int = 0


@dataclass(frozen=True)
class HistoryRow:
    """A row; a heading has no mark."""

    mark: str
    style: str
    name: str
    kind: str = ""
    place: str = ""
    word: str = ""
    word_style: str = ""
    spot: Spot | None = None
    """What is shown of it; None: nothing."""
    before: Spot | None = None
    """The same before a change."""
    moment: model.CommitPoint | None = None
    """Where enter goes, for what happened at a revision."""
    note: str = ""
    life: tuple[model.SymbolHistory, model.HistoryStatus] | None = None
    """Drawn as a lifeline instead of words."""
    body: str = ""
    """What is shown of it instead of a difference between two revisions."""
    patch: bool = False
    """The body is a patch; else it is prose."""
    lead: str = ""
    """Stands whole before the name."""

    @property
    def key(self) -> model.SymbolKey | None:
        """The symbol that it is about."""
        spot = self.spot or self.before
        return spot.key if spot else None


def heading(text: str, *, bold: bool = True) -> HistoryRow:
    """A row that is only words."""
    return HistoryRow("", "bold $primary" if bold else "$muted", text)


def of_changes(changes: Iterable[model.SymbolChange], older: str, newer: str) -> list[HistoryRow]:
    """What became of symbols between two revisions."""
    rows = []
    for change in changes:
        symbol, old = change.symbol, change.before
        mark, style = CHANGE_MARKS[change.change]
        gone = change.change == "removed"
        spot = Spot(symbol.key, older if gone else newer, symbol.start_line)
        earlier = spot if gone else Spot(old.key, older, old.start_line) if old else None
        place, word = f"{symbol.path}:{symbol.start_line}", str(change.change)
        if change.change == "moved" and old is not None:
            was, name = (one.qualname.rpartition(BETWEEN_HEADINGS)[2] for one in (old, symbol))
            if old.path != symbol.path:
                word = f"from {old.path}"
            elif was != name:
                word = f"was {was}"
        rows.append(
            HistoryRow(mark, style, symbol.qualname, symbol.kind, place, word, style, None if gone else spot, earlier,
                    note=one_line_signature(symbol.signature))
        )  # fmt: skip
    return rows


def of_symbols(symbols: Iterable[model.Symbol], at: str) -> list[HistoryRow]:
    """What was there at a revision."""
    return [
        HistoryRow(" ", "", s.qualname, s.kind, f"{s.path}:{s.start_line}", spot=Spot(s.key, at, s.start_line),
                note=one_line_signature(s.signature))
        for s in symbols
    ]  # fmt: skip


def of_life(life: model.SymbolHistory, history: model.HistoryStatus) -> list[HistoryRow]:
    """A symbol's lifeline and events, the oldest first, and who called it before it went."""
    state = "exists" if life.alive else "removed"
    rows = [heading(f"{life.key.qualname} · {life.key.kind} · {life.key.path} · {state}")]
    rows.append(HistoryRow("", "", life_words(life), life=(life, history)))
    if life.first_seen is None:
        rows.append(heading("It already existed where the known history begins.", bold=False))
    rows += [_of_event(life, event) for event in life.events]
    rows += [heading(note, bold=False) for note in life.notes]
    callers = life.callers_before
    if callers is not None:
        when = f", at #{life.last_seen.ordinal:,} · {day(life.last_seen.time)}" if life.last_seen else ""
        some = number_of(len(callers.rows), callers.total) if callers.total else "nothing"
        rows.append(heading(f"Called before it was removed by {some}{when}"))
        rows += [_of_caller(edge, life.last_seen) for edge in callers.rows]
    return rows


def _of_event(life: model.SymbolHistory, event: model.SymbolEvent) -> HistoryRow:
    mark, style = EVENT_MARKS[event.what]
    key = model.SymbolKey(event.path, event.qualname, life.key.kind, life.key.overload)
    earlier = Spot(event.other if event.what == "moved" and event.other else key, before(event.moment), event.line)
    gone = event.what in ("left", "unknown")
    spot = None if gone else Spot(key, event.moment.sha, event.line)
    way = "to" if event.what == "left" else "from"
    word = f"{way} {event.other.path} {event.other.qualname}" if event.other else event.word
    return HistoryRow(
        mark, style, event.moment.subject, "", f"{event.path}:{event.line}", word, style, spot,
        None if event.what in ("came", "returned") else earlier, event.moment, event.signature,
        lead=f"#{event.moment.ordinal:,} {day(event.moment.time)} ",
    )  # fmt: skip


def _of_caller(edge: model.Edge, moment: model.CommitPoint | None) -> HistoryRow:
    key = model.SymbolKey(edge.path or edge.site, edge.qualname, edge.kind)
    spot = Spot(key, moment.sha if moment else None, edge.line)
    place = f"{edge.site}:{edge.line}"
    return HistoryRow(
        "←", "$secondary", edge.qualname, edge.kind, place, edge.resolution, "$muted", spot, note=edge.text
    )


def of_drift(rows: Iterable[model.DriftRow], head: str | None) -> list[HistoryRow]:
    """Where index and checkout differ, below the name of each file.

    Args:
        rows: what differs.
        head: the commit that is indexed, at which the file is read for comparison.
    """
    result: list[HistoryRow] = []
    path = None
    for row in rows:
        mark, style = DRIFT_MARKS[row.state]
        if row.path != path:
            path = row.path
            result.append(heading(row.path))
        key, gone = model.SymbolKey(row.path, row.symbol, row.kind), row.state == "tombstoned"
        spot = Spot(key, None, row.line) if row.symbol and not gone else None
        was, line = (key, row.line) if gone else (model.SymbolKey(row.path, "", row.kind), 0)
        earlier = Spot(was, head, line) if head else None
        note = f"{row.why}   {row.mend}".strip()
        place = f":{row.line}" if row.line else ""
        result.append(
            HistoryRow(
                mark, style, row.symbol or "the file", row.kind, place, row.state, style, spot,
                None if row.state == "unindexed" else earlier, note=note,
            )
        )  # fmt: skip
    return result


class HistoryList(RowList[HistoryRow]):
    """Rows of one tab."""

    def draw(self, row: HistoryRow, width: int) -> Content:
        """Mark, kind, name, place, word: the name gives way last."""
        if row.life is not None:
            return Content.assemble(" ", lifeline_of(*row.life, min(width - 2, MOST_LIFELINE)))
        if not row.mark:
            return Content.styled(f" {elide_end(one_line(row.name), width - 2)}", row.style)
        letter, style = kind_mark(row.kind) if row.kind else (" ", "")
        lead = cell_len(row.lead)
        word = elide_middle(one_line(row.word), max(8, min(width // 3, width - 8 - lead)))
        # The last cell is left to the border.
        room = width - 6 - lead - (cell_len(word) + 2 if word else 0)
        name, place, gap = name_and_place(one_line(row.name), one_line(row.place), room)
        if lead and room < _ROOM_FOR_PLACE:
            name, place, gap = fit(one_line(row.name), room), "", ""
        return Content.assemble(
            (f" {row.mark} ", f"bold {row.style}" if row.style else ""), (f"{letter} ", style), row.lead, name, gap,
            (place, "$muted"), (f"  {word}" if word else "", row.word_style),
        )  # fmt: skip


RECORDED = "@"
"""Marks what an agent saw."""


def of_episode(episode: model.Episode) -> list[HistoryRow]:
    """Rows of the tab; what each of them stands for is shown below."""
    when = f"{age(time.time() - episode.time)}, {minute(episode.time)} UTC"
    rows = [heading(f"{agent_of(episode)} · {when} · session {one_line(episode.session) or 'unknown'}")]
    rows += [_prose("›", "$accent", prompt, "asked") for prompt in episode.prompts if prompt.strip()]
    rows += _of_moment(episode)
    if episode.answer.strip():
        rows.append(_prose("‹", "$secondary", episode.answer, "answered"))
    rows += _of_patch(episode)
    rows += [heading(note, bold=False) for note in _notes(episode)]
    return rows


def _of_moment(episode: model.Episode) -> list[HistoryRow]:
    if episode.moment is None:
        return [
            HistoryRow("!", "$warning", f"It cannot be replayed: {episode.why}.", word="no commit", body=episode.why)
        ]
    moment = episode.moment
    words = f"{name_of(moment)} · {moment.subject}"
    rows = [HistoryRow(RECORDED, "$accent", words, word="it saw", word_style="$muted", moment=moment, body=words)]
    return [*rows, heading(episode.why, bold=False)] if episode.why else rows


def _prose(mark: str, style: str, text: str, word: str) -> HistoryRow:
    line = " ".join(one_line(text).split())
    return HistoryRow(mark, style, line, word=word, word_style="$muted", body=text)


def _of_patch(episode: model.Episode) -> list[HistoryRow]:
    """The whole patch, then its files, then those that were touched and do not differ, or that git does not know."""
    parts = list(file_patches(episode.patch))
    rows = []
    if len(parts) > 1:
        words = f"{count(len(parts), 'file')} differ from it"
        lines = count(episode.patch_lines, "line")
        rows.append(HistoryRow("Δ", "$primary", words, word=lines, word_style="$muted", body=episode.patch, patch=True))
    rows += [_of_file(part, episode) for part in parts]
    known = {part.path for part in parts}
    rows += [
        HistoryRow("·", "$muted", path, word="touched", word_style="$muted", body=f"No patch for {path}.")
        for path in episode.files
        if path not in known
    ]
    return rows


def _of_file(part: FilePatch, episode: model.Episode) -> HistoryRow:
    mark, style = ("+", "$success") if part.new else ("−", "$error") if part.gone else ("~", "$primary")
    spot = None if part.new or episode.moment is None else Spot(model.SymbolKey(part.path, "", ""), episode.moment.sha)
    word = f"+{part.added:,} −{part.removed:,}" if part.added or part.removed else "no lines"
    return HistoryRow(mark, style, part.path, word=word, word_style=style, spot=spot, body=part.text, patch=True)


def _notes(episode: model.Episode) -> list[str]:
    notes = [one_line(episode.note)]
    if not episode.patch and not episode.note and episode.moment is not None:
        notes.append("No differences from that commit when it stopped.")
    if episode.head != episode.sha:
        notes.append(f"HEAD was {episode.head[:8] or 'nothing'} when it stopped; the patch includes what it committed.")
    if episode.patch_cut:
        notes.append("The patch was too long to keep; this is its beginning.")
    if episode.redacted:
        notes.append(f"{count(episode.redacted, 'secret')} redacted in the patch.")
    return [note for note in notes if note]
