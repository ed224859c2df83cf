"""What can be done with a hit that is remembered: read all of it, and say in a pack whose it is."""

from __future__ import annotations

from functools import partial

from cm_tui.engine.api.authors import Author
from cm_tui.model import ENTRIES, NOTES, Entry, Episode, Hit
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.search.view import SearchView
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.screens.entry_text import EntryScreen
from cm_tui.tui.screens.messages import OpenMemory, ReadEpisode
from cm_tui.tui.state.authors import title_of, who
from cm_tui.tui.widgets.text import elide_end

_TITLE = 60
"""Characters of what was asked, or of what an entry is called, that a pack repeats."""


def open_memory(screen: SearchView, hit: Hit) -> None:
    """Show the episode in its session, the entry whole, the note among all others."""
    name = hit.path.partition("/")[2]

    def episode(found: Episode) -> None:
        screen.post_message(ReadEpisode(found.id, found.session))

    def entry(found: Entry) -> None:
        copy = partial(copy_and_tell, screen, what="The entry is copied.")
        screen.app.push_screen(EntryScreen(found, screen.cm, copy))

    if hit.source == NOTES:
        screen.post_message(OpenMemory("note", name))
    elif hit.source == ENTRIES:
        screen.ask("open", lambda engine: engine.entry(name), entry)
    else:
        screen.ask("open", lambda engine: engine.episode(name), episode)


def told_of(hit: Hit, author: Author | None) -> str:
    """Return what was asked or what the entry is called, who wrote it, and on which day: the title of a piece."""
    title = title_of(author)
    pieces = [
        f"“{elide_end(title, _TITLE)}”" if title else "",
        who(author),
        local_day(hit.time) if hit.time is not None else "",
    ]
    return ", ".join(piece for piece in pieces if piece) or hit.source
