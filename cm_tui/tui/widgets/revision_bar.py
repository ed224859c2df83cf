"""The line that says, in every mode, that a past moment is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from cm_tui.tui.state.revision import agent_of, asked_of, name_of
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.tui.app.app import CmApp
    from cm_tui.tui.screens.mode_screen import ModeScreen


class RevisionBar(Widget):
    """Which moment is shown, whether this mode shows it, and the key that leads back; a click does that too."""

    DEFAULT_CSS = """
    RevisionBar { height: 1; display: none; background: $warning 14%; color: $foreground; }
    RevisionBar.-past { display: block; }
    """

    def refresh_text(self) -> None:
        """Draw again, or go away."""
        self.set_class(cast("CmApp", self.app).revision.moment is not None, "-past")
        self.refresh()

    def render(self) -> Content:
        """`◀ PAST  #3,112 · 2021-03-04 · 1a2b3c4d · subject        0 back to now`."""
        cm, screen = cast("CmApp", self.app), cast("ModeScreen", self.screen)
        moment = cm.revision.moment
        if moment is None:
            return Content("")
        lead = " ◀ PAST  "
        back = f" {cm.keys_of(screen.command('app.now'))} back to now "
        episode = cm.revision.episode
        what = f"seen by {agent_of(episode)}: {asked_of(episode)}" if episode else moment.subject
        words = [name_of(moment), *([cm.revision.note] if cm.revision.note else []), what]
        if not screen.SHOWS_REVISION:
            words.insert(1, "here you see now")
        room = self.size.width - cell_len(lead) - cell_len(back)
        text = elide_end(one_line(" · ".join(word for word in words if word)), room)
        gap = " " * max(0, room - cell_len(text))
        return Content.assemble((lead, "bold $warning"), text, gap, (back, "bold $accent"))

    def on_click(self) -> None:
        """Back to now."""
        cast("ModeScreen", self.screen).action_command("app.now")
