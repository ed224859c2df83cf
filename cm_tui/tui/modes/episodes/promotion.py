"""Writing down what an episode taught: as an entry, or in a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cm_tui.model import Episode, MemoryChange, NoteChange
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.undo import do_undoable, written
from cm_tui.tui.screens.writing import Answer, EntryDialog, EntryDraft, NoteDialog, NoteDraft, words_of_error
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_TITLE = 100
_LONGEST = 4_000
"""Most characters of an episode's outcome in the dialog, for the user to shorten."""


_SENTENCES, _CHARACTERS = 3, 600
"""Of a paragraph, most that are proposed of its end."""
_SENTENCE_END = re.compile(r"(?<=[.!…。！])\s+(?=[^\s])")
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LIST = re.compile(r"^[ \t]*([-*+•]|[0-9]{1,3}[.)])[ \t]", re.MULTILINE)


def words_of(episode: Episode) -> str:
    """Return what an episode taught, to begin with: what the agent concluded, else what was asked, else the verdict."""
    concluded = conclusion(episode.answer)
    said = next((one for one in (concluded, *episode.prompts, episode.verdict) if one.strip()), "")
    return said.strip()[:_LONGEST]


def conclusion(answer: str) -> str:
    """Return the last sentences of an answer, or its last list; code, headings and questions at its end are skipped."""
    paragraphs = [
        part.strip() for part in re.split(r"\n[ \t]*\n", _HEADING.sub("", _CODE.sub("", answer))) if part.strip()
    ]
    told = [part for part in paragraphs if not part.endswith("?")]
    if not told:
        return ""
    last = told[-1]
    if _LIST.search(last):
        lead = told[-2] if len(told) > 1 and told[-2].endswith(":") and _LIST.match(last) else ""
        return f"{lead}\n{last}".strip()
    kept: list[str] = []
    for sentence in reversed(_SENTENCE_END.split(last)):
        if kept and (len(kept) == _SENTENCES or sum(map(len, kept)) + len(sentence) > _CHARACTERS):
            break
        kept.insert(0, sentence)
    return " ".join(kept)


def to_entry(screen: EpisodesView) -> None:
    """Ask for an entry that begins with what came of the episode, and write it; it says which episode that was."""

    def ask(episode: Episode) -> None:
        def submit(wanted: EntryDraft, answer: Answer) -> None:
            def wrote(change: MemoryChange) -> None:
                entry = change.entry
                answer("")
                if entry is None:
                    return
                said = "Already saved." if entry.again else "Saved as an entry; u undoes it."
                screen.cm.tell(" ".join((said, *entry.notes)))

            def call(engine: Engine) -> MemoryChange:
                entry = engine.promote_episode(
                    episode.id, content=wanted.content, category=wanted.category, title=wanted.title,
                    keywords=wanted.keywords, scope=wanted.scope,
                )  # fmt: skip
                return written(engine, entry)

            do_undoable(screen, call, wrote, lambda error: answer(words_of_error(error)))

        title = elide_end(headline(episode), _TITLE)
        draft = EntryDraft(words_of(episode), title, "Experience")
        screen.app.push_screen(EntryDialog("An entry of this episode", draft, submit))

    _with_whole(screen, ask)


def to_note(screen: EpisodesView) -> None:
    """Ask for a paragraph that begins with what came of the episode, and write it into a note."""

    def ask(episode: Episode) -> None:
        def submit(wanted: NoteDraft, answer: Answer) -> None:
            def wrote(change: NoteChange) -> None:
                answer("")
                words = one_line(change.words)
                screen.cm.tell(f"{words[:1].upper()}{words[1:]}; u undoes it.")

            do_undoable(
                screen, lambda engine: engine.append_note(wanted.text, name=wanted.name), wrote,
                lambda error: answer(words_of_error(error)),
            )  # fmt: skip

        screen.app.push_screen(NoteDialog("", f"{headline(episode)}: {words_of(episode)}", submit))

    _with_whole(screen, ask)


def _with_whole(screen: EpisodesView, then: Callable[[Episode], None]) -> None:
    """Read all of the episode that is meant: a row of the list has not all of its texts."""
    if (episode := screen.episode) is not None:
        screen.ask("promote", lambda engine: engine.episode(episode.id), then)
