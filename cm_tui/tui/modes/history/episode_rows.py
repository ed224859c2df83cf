"""An episode as rows of the history mode: who, when and at which commit, what was asked, and what came of it."""

from __future__ import annotations

import time

from cm_tui.model import Episode, SymbolKey
from cm_tui.model.dates import minute
from cm_tui.tui.modes.history.rows import HistoryRow, Spot, heading
from cm_tui.tui.state.revision import agent_of, name_of
from cm_tui.tui.widgets.patches import FilePatch, file_patches
from cm_tui.tui.widgets.text import ago, count, one_line

RECORDED = "@"
"""Marks what an agent saw."""


def of_episode(episode: Episode) -> list[HistoryRow]:
    """Rows of the tab; what each of them stands for is shown below."""
    when = f"{ago(time.time() - episode.time)}, {minute(episode.time)} UTC"
    rows = [heading(f"{agent_of(episode)} · {when} · session {one_line(episode.session) or 'unknown'}")]
    rows += [_prose("›", "$accent", prompt, "asked") for prompt in episode.prompts if prompt.strip()]
    rows += _of_moment(episode)
    if episode.answer.strip():
        rows.append(_prose("‹", "$secondary", episode.answer, "answered"))
    rows += _of_patch(episode)
    rows += [heading(note, bold=False) for note in _notes(episode)]
    return rows


def _of_moment(episode: Episode) -> list[HistoryRow]:
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


def _of_patch(episode: Episode) -> list[HistoryRow]:
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
        HistoryRow("·", "$muted", path, word="touched", word_style="$muted", body=f"There is no patch of {path}.")
        for path in episode.files
        if path not in known
    ]
    return rows


def _of_file(part: FilePatch, episode: Episode) -> HistoryRow:
    mark, style = ("+", "$success") if part.new else ("−", "$error") if part.gone else ("~", "$primary")
    spot = None if part.new or episode.moment is None else Spot(SymbolKey(part.path, "", ""), episode.moment.sha)
    word = f"+{part.added:,} −{part.removed:,}" if part.added or part.removed else "no lines"
    return HistoryRow(mark, style, part.path, word=word, word_style=style, spot=spot, body=part.text, patch=True)


def _notes(episode: Episode) -> list[str]:
    notes = [one_line(episode.note)]
    if not episode.patch and not episode.note and episode.moment is not None:
        notes.append("Nothing differed from that commit when it stopped.")
    if episode.head != episode.sha:
        notes.append(
            f"HEAD was {episode.head[:8] or 'nothing'} when it stopped: the patch holds what it committed too."
        )
    if episode.patch_cut:
        notes.append("The patch was too long to keep: this is its beginning.")
    if episode.redacted:
        notes.append(f"{count(episode.redacted, 'secret')} redacted in the patch.")
    return [note for note in notes if note]
