"""The line of a proposal as it is to be written, changed in place or in the person's own editor; then it is approved."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.files import write_atomically
from cm_tui.model import NarratedProposal
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.writing import Submit, WritingScreen
from cm_tui.tui.terminal.editor import edit_over
from cm_tui.tui.widgets.text import one_line


class LineDialog(WritingScreen[str]):
    """Asks for the line.

    Args:
        proposal: what is proposed.
        submit: approves it so.
    """

    def __init__(self, proposal: NarratedProposal, submit: Submit[str]) -> None:
        super().__init__(
            "Edit, then approve",
            proposal.text,
            submit,
            "One line of Markdown, without a list marker. u undoes it.",
        )
        self._proposal = proposal

    def fields(self) -> Iterable[Widget]:
        """Where it is written."""
        one = self._proposal
        below = f", below “{one_line(one.heading)}”" if one.heading else ""
        yield Static(Content.styled(f"into {one_line(one.target)}{below}", "$soft"), id="line-target", markup=False)

    def value(self) -> str:
        """Return the line."""
        return self.area.text.strip()

    def wrong(self, value: str) -> str:
        """Return what is wrong with it."""
        if not value:
            return "There is nothing to write: esc leaves, x rejects the proposal."
        return "It is one line: join what belongs together." if "\n" in value else ""


def edited_outside(screen: ModeScreen, name: str, text: str) -> str | None:
    """Return a line as it was changed in the person's own editor; None where nothing else came of it.

    Args:
        screen: the mode.
        name: of the proposal.
        text: as it is proposed.
    """
    folder = Path(tempfile.mkdtemp(prefix="cm-proposal-"))
    file = folder / f"{one_line(name)}.md"
    try:
        write_atomically(file, f"{text}\n".encode())
        edit_over(screen.app, folder, file.name, 1)
        changed = " ".join(file.read_text(encoding="utf-8").split())
    except (CmError, OSError, UnicodeDecodeError) as error:
        screen.cm.tell_error(
            error if isinstance(error, CmError) else CmError(f"What the editor left cannot be read: {error}")
        )
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    screen.app.refresh()
    if changed in {"", " ".join(text.split())}:
        screen.cm.tell("The editor left nothing new: the proposal waits as it is.")
        return None
    return changed
