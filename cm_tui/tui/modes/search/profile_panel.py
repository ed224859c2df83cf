"""The tuning panel: a slider for every number of the profile."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from cm_tui.model import Profile
from cm_tui.tui.modes.search.profile_settings import Setting
from cm_tui.tui.widgets.bars import slider
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import fit

LABEL = 17
VALUE = 9


class ProfilePanel(RowList[Setting | str]):
    """Settings under headings; left and right step, digits are typed, backspace puts the saved value back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", show=False),
        Binding("right,l", "step(1)", show=False),
        Binding("shift+left,H", "step(-5)", show=False),
        Binding("shift+right,L", "step(5)", show=False),
        Binding("backspace,delete", "undo", show=False),
    ]

    class Changed(Message):
        """A number is another one now."""

        def __init__(self, profile: Profile, setting: Setting | None) -> None:
            super().__init__()
            self.profile = profile
            self.setting = setting

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty="The profiles are being read…", id=id)
        self.profile: Profile | None = None
        self.saved: Profile | None = None
        self._typed = ""

    def show(self, settings: tuple[Setting, ...], profile: Profile, saved: Profile) -> None:
        """Show a profile."""
        rows: list[Setting | str] = []
        for setting in settings:
            if setting.group not in rows:
                rows.append(setting.group)
            rows.append(setting)
        same = [str(row) for row in rows] == [str(row) for row in self.rows]
        self.profile, self.saved, self._typed = profile, saved, ""
        self.set_rows(rows, cursor=self.cursor if same else 1)

    def is_heading(self, row: Setting | str) -> bool:
        """Return whether a row is the name of a group."""
        return isinstance(row, str)

    # --- drawing ---

    def draw(self, row: Setting | str, width: int) -> Content:
        """A heading, or a setting with its slider."""
        if isinstance(row, str) or self.profile is None or self.saved is None:
            return Content.styled(str(row), "bold $primary")
        changed = row.of(self.profile) != row.of(self.saved)
        active = self.has_focus and row is self.current
        value = f"{self._typed}▏" if active and self._typed else row.text(self.profile)
        middle = self._choices(row) if row.choices else self._slider(row, width, active=active)
        return Content.assemble(
            ("●" if changed else " ", "$accent"),
            (fit(row.label, LABEL), "bold $foreground" if active else "$soft"),
            middle,
            ("" if row.choices else f"{value:>{VALUE}}", "bold $accent" if changed else "$foreground"),
        )

    def _slider(self, row: Setting, width: int, *, active: bool) -> Content:
        assert self.profile is not None
        return slider(row.share(self.profile), self._slider_width(width), active=active)

    def _slider_width(self, width: int) -> int:
        return max(6, width - LABEL - VALUE - 3)

    def _choices(self, row: Setting) -> Content:
        assert self.profile is not None
        now = row.of(self.profile)
        return Content("  ").join(
            Content.styled(choice, "bold $accent" if choice == now else "$muted") for choice in row.choices
        )

    # --- changing ---

    def _change(self, profile: Profile, setting: Setting | None) -> None:
        self._typed = ""
        if profile != self.profile:
            self.profile = profile
            self.post_message(self.Changed(profile, setting))
        self.refresh()

    def action_step(self, steps: int) -> None:
        """Move the setting under the cursor."""
        if isinstance(self.current, Setting) and self.profile:
            self._change(self.current.stepped(self.profile, steps), self.current)

    def action_undo(self) -> None:
        """Take back a typed character, or put the saved value back."""
        if self._typed:
            self._typed = self._typed[:-1]
            self.refresh()
        elif isinstance(self.current, Setting) and self.profile and self.saved:
            self._change(self.current.put(self.profile, self.current.of(self.saved)), self.current)

    def reset(self) -> None:
        """Put every saved value back."""
        if self.saved:
            self._change(self.saved, None)

    def take_factory(self, factory: Profile, *, whole: bool) -> None:
        """Put values back as they come with cm.

        Args:
            factory: the profile as it comes.
            whole: all of them, not the one under the cursor alone.
        """
        if self.profile is None:
            return
        if whole:
            self._change(factory, None)
        elif isinstance(self.current, Setting):
            self._change(self.current.put(self.profile, self.current.of(factory)), self.current)

    def on_key(self, event: events.Key) -> None:
        """Digits are typed into the setting."""
        setting = self.current
        if not isinstance(setting, Setting) or setting.choices or not event.character:
            return
        if event.character in "0123456789." and len(self._typed) < 7:
            self._typed += event.character
            self.refresh()
            event.stop()
            event.prevent_default()

    def action_choose(self) -> None:
        """Take what was typed; a choice goes on to the next."""
        setting = self.current
        if not isinstance(setting, Setting) or self.profile is None:
            return
        if setting.choices:
            self.action_step(1)
        elif self._typed:
            try:
                self._change(setting.put(self.profile, float(self._typed)), setting)
            except ValueError:
                self._typed = ""
                self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """The panel may have been hidden when its rows came."""
        super().on_resize(event)
        self.scroll_home(animate=False)
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        super()._show_cursor()
        if self.cursor <= 1:  # the first heading cannot have the cursor, yet is to be seen
            self.scroll_home(animate=False)

    def watch_cursor(self, before: int, after: int) -> None:
        """Forget the digits typed for another setting."""
        self._typed = ""
        super().watch_cursor(before, after)

    def chooses(self, row: Setting | str, x: int, *, again: bool) -> bool:  # noqa: ARG002 - one click is enough here
        """A click on a slider sets it there; a click on a choice goes on to the next."""
        if isinstance(row, str) or self.profile is None:
            return False
        if row.choices:
            return x > LABEL
        width = self._slider_width(self.size.width)
        place = x - LABEL - 1
        if 0 <= place < width:
            share = place / max(1, width - 1)
            value = row.low + share * (row.high - row.low)
            self._change(row.put(self.profile, round(value / row.step) * row.step), row)
        return False
