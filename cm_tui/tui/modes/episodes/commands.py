"""The commands of the episodes mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from cm_tui.errors import CmError, UsageError
from cm_tui.model import Episode, EpisodeFilter, Session
from cm_tui.tui.modes.episodes import edits
from cm_tui.tui.modes.episodes.query import FilterDialog, filter_of
from cm_tui.tui.modes.episodes.stories import path_below
from cm_tui.tui.modes.episodes.story import INDENT, StoryLine
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.app_commands import not_open, not_searchable, undo_last
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.episode_commands import cannot_resume, erase_episode, resume_agent
from cm_tui.tui.screens.everywhere import ask_everywhere
from cm_tui.tui.screens.list_mode import find
from cm_tui.tui.screens.messages import OpenEpisode, OpenPath
from cm_tui.tui.screens.question import ask
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.patches import file_patches

Side = Literal["new", "old"]
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_MOST = 50_000
"""Lines of a file that are looked through."""


@dataclass
class Hunk:
    """A part of a patch: where one side of it begins, as it says, and the lines of that side."""

    start: int
    """0: it does not say."""
    lines: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    """Those that only this side has."""


def hunks_of(text: str, side: Side) -> Iterator[Hunk]:
    """Yield one side of the hunks of a file's patch."""
    hunk: Hunk | None = None
    mine, other = ("+", "-") if side == "new" else ("-", "+")
    for line in text.split("\n"):
        if line.startswith("@@"):
            if hunk is not None:
                yield hunk
            numbers = _HUNK.match(line)
            hunk = Hunk(int(numbers[2 if side == "new" else 1]) if numbers else 0)
        elif hunk is not None and not line.startswith((other, "\\")):
            hunk.lines.append(line[1:])
            if line.startswith(mine):
                hunk.own.append(line[1:])
    if hunk is not None:
        yield hunk


def find_line(engine: Engine, episode: Episode, at: StoryLine, side: Side, revision: str | None = None) -> int | None:
    """Return the line of a file that a line of a story refers to; None: unknown.

    Args:
        engine: reads the file.
        episode: whose patch it is.
        at: the line of the story.
        side: of the patch: the file as it was left, or as it was found.
        revision: of the file; None: as it is now.
    """
    hunks = [
        hunk
        for part in file_patches(episode.patch)
        if path_below(episode.root, part.path) == at.path
        for hunk in hunks_of(part.text, side)
    ]
    if not hunks:
        return None
    line = (at.line if side == "new" else at.old_line) or 0
    text = at.content.plain[INDENT + 1 :]
    hunk, offset = _under(hunks, line, text)
    try:
        lines = engine.source(at.path, 1, _MOST, at=revision).text.split("\n")
    except CmError:
        # Symbols says why it cannot be read.
        lines = []
    if (found := _nearest(lines, hunk.lines, hunk.start)) is not None:
        return found + offset
    if (found := _nearest(lines, hunk.own, hunk.start)) is not None:
        return found + (hunk.own.index(text) if text in hunk.own else 0)
    # Patches made from an agent's own edits have line 1 where the line is unknown.
    return hunk.start + offset if hunk.start > (episode.actor == "import") else None


def _under(hunks: Sequence[Hunk], line: int, text: str) -> tuple[Hunk, int]:
    """Return the hunk that a line of a patch belongs to, and how far into it; the first hunk where it is none."""
    inside = [one for one in hunks if one.start and one.start <= line < one.start + max(1, len(one.lines))]
    for hunk in inside:
        if text in hunk.lines[line - hunk.start : line - hunk.start + 1]:
            return hunk, line - hunk.start
    return (inside[0], line - inside[0].start) if inside else (hunks[0], 0)


def _nearest(lines: Sequence[str], sought: Sequence[str], start: int) -> int | None:
    """Return where lines stand in a file one below the other, nearest to a line of it; None: nowhere."""
    body = list(sought[:-1] if sought and not sought[-1].strip() else sought)
    if not any(one.strip() for one in body):
        return None
    found = (
        number
        for number, line in enumerate(lines, start=1)
        if line == body[0] and lines[number - 1 : number - 1 + len(body)] == body
    )
    return min(found, key=lambda number: abs(number - start), default=None)


_CHOOSE = "choose an episode first: enter goes to those of a session"
Reason = Callable[[EpisodesView], str | None]
_importing: Reason = unless(lambda screen: not screen.cm.project.importing, "past sessions are being imported")
_nothing_to_import: Reason = unless(lambda screen: screen.cm.project.sessions_to_import, "no past sessions to import")
_no_turns: Reason = unless(lambda screen: screen.turns.rows, "no episode")
_no_episode: Reason = unless(lambda screen: screen.episode, _CHOOSE)
_no_story: Reason = unless(lambda screen: screen.story.lines.rows, "nothing to read")
_no_folds: Reason = unless(lambda screen: screen.story.folds, "nothing is folded here")
_not_told: Reason = unless(lambda screen: screen.story.episode, _CHOOSE)
_no_file: Reason = unless(lambda screen: screen.story.place, "it touched no file of this project")


def _no_past(screen: EpisodesView) -> str | None:
    episode = screen.story.episode
    return episode.why or "no commit to show" if episode is not None and episode.moment is None else None


# --- what is listed ---


def choose_filter(screen: EpisodesView) -> None:
    """Choose what to filter by from what there is."""
    text = screen.filter_input.value
    try:
        state = filter_of(text).state
    except UsageError:
        state = "shown"

    def chosen(line: str) -> None:
        if line != screen.filter_input.value:
            screen.filter_input.value = line

    screen.ask(
        "facets", lambda engine: engine.episode_stats(where=EpisodeFilter(state=state), days=1),
        lambda stats: ask(screen, FilterDialog(stats, text, chosen)),
    )  # fmt: skip


def go_in(screen: EpisodesView) -> None:
    """Do what Enter does in the list with the focus."""
    if screen.focused is screen.story.lines:
        screen.story.lines.action_choose()
    elif screen.on_sessions:
        screen.enter_turns()
    else:
        screen.story.lines.focus()


def step(screen: EpisodesView, by: int) -> None:
    """Go to the episode before or after this one, wherever the focus is."""
    if screen.on_sessions:
        screen.add_class("-in-turns")
    before = screen.turn_list.cursor
    screen.turn_list.cursor += by
    if screen.turn_list.cursor == before:
        screen.cm.refuse(f"It is the {'first' if by < 0 else 'last'} episode listed")
    if (row := screen.turn_list.current) is not None:
        screen.show_turn(row)


# --- where it leads ---


def open_now(screen: EpisodesView) -> None:
    """Show the file under the cursor as it is now."""
    if screen.story.place is not None:
        screen.cm.go_to_now()
        _open_at(screen, "new", None)


def open_then(screen: EpisodesView) -> None:
    """Show the file under the cursor as the agent saw it."""
    episode = screen.story.episode
    if screen.story.place is not None and episode is not None and episode.moment is not None:
        screen.cm.revision.go(episode.moment, episode.why, episode, requested=episode.sha)
        _open_at(screen, "old", screen.cm.revision.at)


def _open_at(screen: EpisodesView, side: Side, revision: str | None) -> None:
    """Show the file at the line of the patch; Escape leads back."""
    place, episode = screen.story.place, screen.story.episode
    if place is None or episode is None:
        return

    def found(line: int | None) -> None:
        note = "The position in this file is unknown; this is its first line." if line is None else ""
        screen.post_message(OpenPath(place.path, line or 1, back=screen.MODE, note=note))

    screen.ask("place", lambda engine: find_line(engine, episode, place, side, revision), found)


def replay(screen: EpisodesView, episode: Episode) -> None:
    """Show in History what the agent saw, with everything of that revision."""
    screen.post_message(OpenEpisode(episode.id))


def _target(screen: EpisodesView) -> Episode | Session | None:
    return screen.session if screen.on_sessions else screen.episode


def _cannot_resume(screen: EpisodesView) -> str | None:
    return cannot_resume(_target(screen))


def resume(screen: EpisodesView) -> None:
    """Open the agent at the session."""
    if (one := _target(screen)) is not None:
        resume_agent(screen, one)


def copy(screen: EpisodesView) -> None:
    """Copy the story as displayed."""
    text = "\n".join(line.content.plain.rstrip() for line in screen.story.lines.rows)
    copy_and_report(screen, text, "Story copied.")


def erase(screen: EpisodesView, episode: Episode) -> None:
    """Erase an episode for good; asks first."""

    def gone(episode: Episode) -> None:
        screen.selected.pop(episode.id, None)
        screen.story.say("It was erased.")
        screen.reload()

    erase_episode(screen, episode, gone)


EPISODES_COMMANDS: tuple[Command[EpisodesView], ...] = (
    # The key bar ends where there is no room any more: what is used most comes first.
    Command("episodes.enter", "enter", "Open",
            "Open the episodes of a session, an episode's story, or the code that a line names",
            go_in, palette=False, blocked=_no_turns),
    Command("episodes.select", "space", "Select", "Select or deselect the session or episode under the cursor",
            edits.select, blocked=_no_turns),
    Command("episodes.find", "slash", "Find", "Filter episodes by words and by fields such as `file:` or `since:`",
            find, blocked=not_open),
    Command("episodes.undo", "u", "Undo", "Undo the last change, of any mode; then your earlier ones in this project",
            undo_last, blocked=not_open),
    Command("episodes.forget", "d", "Forget", "Hide from lists, search and agents; the same key restores it",
            edits.forget, blocked=edits.nothing_selected),
    Command("episodes.tag", "t", "Tag", "Add or remove tags", edits.prompt_tags, blocked=edits.nothing_selected),
    Command("episodes.unfold", "v", "Unfold", "Unfold the whole story, or fold it again; enter toggles one part",
            lambda screen: screen.story.unfold(), blocked=(_no_story, _no_folds)),
    Command("episodes.filter", "f", "Filter", "Filter by type, tool, outcome, agent or tag, from a list",
            choose_filter, blocked=not_open),
    Command("episodes.open", "o", "Code", "Show the file under the cursor, or the first one of the story, as it is now",
            open_now, blocked=(_not_told, _no_file)),
    Command("episodes.pin", "p", "Pin", "Pin: never archived by age, and agents cannot change it",
            edits.flip_pin, blocked=edits.nothing_selected),
    Command("episodes.then", "s", "As it was", "Show the file at the commit that the agent saw; 0 returns to now",
            open_then, blocked=(_not_told, _no_file, _no_past)),
    Command("episodes.useful", "plus", "Useful", "Rate as useful; the same key removes the rating",
            partial(edits.rate, rating=1), blocked=edits.nothing_selected),
    Command("episodes.misled", "minus", "Misled", "Rate as misleading; the same key removes the rating",
            partial(edits.rate, rating=-1), bar=False, blocked=edits.nothing_selected),
    Command("episodes.all", "a", "All",
            "Select everything that matches the filter, or in a session its episodes; or nothing", edits.select_all,
            bar=False, blocked=_no_turns),
    Command("episodes.before", "left_square_bracket", "Before", "Previous episode",
            partial(step, by=-1), bar=False, blocked=_no_turns),
    Command("episodes.after", "right_square_bracket", "After", "Next episode",
            partial(step, by=1), bar=False, blocked=_no_turns),
    Command("episodes.replay", "r", "Replay", "Show in History the commit that the agent saw, with its patch",
            with_target("episode", replay),
            blocked=(_no_episode, not_searchable)),
    Command("episodes.resume", "R", "Resume", "Resume this session with its agent in this terminal; for a sub-agent the one "
            "that started it", resume, bar=False, blocked=_cannot_resume),
    Command("episodes.entry", "w", "Write down", "Save what the episode taught as an entry", with_target("episode", edits.to_entry), bar=False,
            blocked=_no_episode),
    Command("episodes.note", "W", "To a note", "Save what the episode taught in a note", with_target("episode", edits.to_note), bar=False,
            blocked=_no_episode),
    Command("episodes.everywhere", "S", "Everywhere", "Search the words of the filter in all projects on this machine; "
            "read-only; S returns", lambda screen: ask_everywhere(screen, screen.where.text, screen.where), bar=False, blocked=not_open),
    Command("episodes.import", "m", "Import", "Import the past agent sessions found for this project",
            lambda screen: screen.cm.session_import.start(), bar=False,
            blocked=(_importing, _nothing_to_import)),
    Command("episodes.copy", "c", "Copy", "Copy the story as displayed", copy, bar=False, blocked=_no_story),
    Command("episodes.erase", "delete", "Erase", "Erase the episode permanently; asks twice", with_target("episode", erase), bar=False,
            blocked=_no_episode),
    Command("episodes.purge", "D", "Purge",
            "Delete archived episodes permanently; lists them and asks twice", edits.purge, bar=False,
            blocked=(edits.nothing_selected, edits.cannot_purge)),
)  # fmt: skip
