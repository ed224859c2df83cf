"""Writing down what an episode taught: as an entry, or in a note."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.model import Entry, Episode, NoteChange
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.entry_dialog import EntryDialog, EntryDraft
from cm_tui.tui.screens.note_dialog import NoteDialog, NoteDraft
from cm_tui.tui.screens.writing import Answer, words_of_error
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import elide_end, one_line

_TITLE = 100
_LONGEST = 4_000
"""Characters of what came of an episode that stand in the dialog: whoever writes it down makes less of them."""


def words_of(episode: Episode) -> str:
    """Return what came of an episode, to begin with: the verdict, else the answer, else what was asked."""
    said = next((one for one in (episode.verdict, episode.answer, *episode.prompts) if one.strip()), "")
    return said.strip()[:_LONGEST]


def to_entry(screen: EpisodesView) -> None:
    """Ask for an entry that begins with what came of the episode, and write it; it says which episode that was."""

    def ask(episode: Episode) -> None:
        def submit(wanted: EntryDraft, answer: Answer) -> None:
            def wrote(entry: Entry) -> None:
                answer("")
                said = "That was written down already." if entry.again else "Written down as an entry; u takes it back."
                screen.cm.tell(" ".join((said, *entry.notes)))

            screen.do(
                lambda engine: engine.promote_episode(
                    episode.id, content=wanted.content, category=wanted.category, title=wanted.title,
                    keywords=wanted.keywords, scope=wanted.scope,
                ),
                wrote,
                lambda error: answer(words_of_error(error)),
            )  # fmt: skip

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
                screen.cm.tell(f"{words[:1].upper()}{words[1:]}; u takes it back.")

            screen.do(
                lambda engine: engine.append_note(wanted.text, name=wanted.name), wrote,
                lambda error: answer(words_of_error(error)),
            )  # fmt: skip

        screen.app.push_screen(NoteDialog("", f"{headline(episode)}: {words_of(episode)}", submit))

    _with_whole(screen, ask)


def _with_whole(screen: EpisodesView, then: Callable[[Episode], None]) -> None:
    """Read all of the episode that is meant: a row of the list has not all of its texts."""
    if (episode := screen.episode) is not None:
        screen.ask("promote", lambda engine: engine.episode(episode.id), then)
