"""The tuning panel: a slider for every number of the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from cm_tui.model import Profile
from cm_tui.tui.widgets.bars import slider
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import fit

Value = float | str | None


@dataclass(frozen=True)
class Setting:
    """One number or choice of a profile; adjustments are named `adjustments.NAME`."""

    field: str
    label: str
    group: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.05
    whole: bool = False
    choices: tuple[str, ...] = ()
    none_at_zero: bool = False
    """0 means that it is off."""
    retrieves: bool = False
    """A change of it has to ask the index again."""

    def of(self, profile: Profile) -> Value:
        """Its value in a profile."""
        head, _, name = self.field.partition(".")
        value = profile.adjustments.get(name, 0.0) if name else getattr(profile, head)
        return 0.0 if value is None and self.none_at_zero else value

    def put(self, profile: Profile, value: Value) -> Profile:
        """The profile with another value, kept within bounds."""
        if isinstance(value, int | float):
            value = min(self.high, max(self.low, value))
            value = round(value) if self.whole else round(value, 4)
            if self.none_at_zero and not value:
                value = None
        head, _, name = self.field.partition(".")
        changes: Any = {**profile.adjustments, name: value} if name else value
        return replace(profile, **{head: changes})

    def takes(self, value: object) -> bool:
        """True for what `put` can take: a number, or one of the choices."""
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and not isinstance(value, bool)

    def stepped(self, profile: Profile, steps: int) -> Profile:
        """The profile with this setting moved by steps; choices go round."""
        value = self.of(profile)
        if self.choices:
            place = self.choices.index(str(value)) if value in self.choices else 0
            return self.put(profile, self.choices[(place + steps) % len(self.choices)])
        assert isinstance(value, int | float)
        return self.put(profile, value + steps * self.step)

    def share(self, profile: Profile) -> float:
        """Where a slider stands, from 0 to 1."""
        value = self.of(profile)
        if not isinstance(value, int | float) or self.high <= self.low:
            return 0.0
        return (value - self.low) / (self.high - self.low)

    def text(self, profile: Profile) -> str:
        """The value for people."""
        value = self.of(profile)
        if not isinstance(value, int | float):
            return str(value)
        if self.none_at_zero and not value:
            return "off"
        return f"{value:g}" if self.whole else f"{value:.2f}"


_FIXED = (
    Setting("fusion", "fusion", "Fusion", choices=("weighted", "rrf")),
    Setting("keyword_weight", "keyword weight", "Fusion"),
    Setting("vector_weight", "vector weight", "Fusion"),
    Setting("rrf_k", "rrf k", "Fusion", low=1, high=200, step=5, whole=True),
    Setting("pool", "pool per side", "Fusion", low=10, high=1000, step=10, whole=True, retrieves=True),
    Setting("limit", "top k", "Result", low=1, high=100, step=1, whole=True),
    Setting("min_score", "least score", "Result", high=1.0),
    Setting("weak_relevance", "weak below", "Result", high=1.0),
    Setting("snippet_chars", "snippet chars", "Result", low=50, high=3000, step=50, whole=True),
    Setting("diversity", "diversity", "Diversity", choices=("none", "file", "mmr")),
    Setting("diversity_lambda", "λ / file factor", "Diversity"),
    Setting("half_life_days", "half-life, days", "Decay", high=365.0, step=5, none_at_zero=True),
    Setting("stale", "stale", "Decay"),
    Setting("rerank", "rerank", "Rerank", choices=("auto", "on", "off")),
    Setting("rerank_alpha", "rerank α", "Rerank"),
    Setting("rerank_depth", "rerank depth", "Rerank", low=1, high=200, step=5, whole=True),
)


def settings_of(saved: Profile, others: Mapping[str, Profile]) -> tuple[Setting, ...]:
    """Every number of a profile: the fixed ones, and one for each adjustment that any profile names.

    Args:
        saved: the profile as saved; its adjustments set the range of their sliders.
        others: all profiles, for adjustments that this one does not name.
    """
    names = dict.fromkeys([*saved.adjustments, *(name for other in others.values() for name in other.adjustments)])
    known = {
        name: max(abs(profile.adjustments.get(name, 0.0)) for profile in (saved, *others.values())) for name in names
    }
    adjustments = tuple(
        Setting(f"adjustments.{name}", name, "Adjustments", high=max(1.0, 2 * known[name])) for name in names
    )
    first = tuple(setting for setting in _FIXED if setting.group in {"Fusion", "Result"})
    rest = tuple(setting for setting in _FIXED if setting.group not in {"Fusion", "Result"})
    return (*first, *adjustments, *rest)


LABEL = 17
VALUE = 9


class ProfilePanel(RowList[Setting | str]):
    """Settings under headings; left and right step, digits are typed, backspace puts the saved value back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("left,h", "step(-1)"),
        ("right,l", "step(1)"),
        ("shift+left,H", "step(-5)"),
        ("shift+right,L", "step(5)"),
        ("backspace,delete", "undo"),
    ]

    @dataclass
    class Changed(Message):
        """A number is another one now."""

        profile: Profile
        setting: Setting | None

    profile: Profile | None = None
    saved: Profile | None = None
    _typed = ""

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
        """Apply what was typed; a choice moves on to the next value."""
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

    def _show_cursor(self) -> None:
        super()._show_cursor()
        if self.cursor <= 1:  # the first heading cannot have the cursor, yet is to be seen
            self.scroll_home(animate=False)

    def watch_cursor(self, before: int, after: int) -> None:
        """Forget the digits typed for another setting."""
        self._typed = ""
        super().watch_cursor(before, after)

    def chooses(self, row: Setting | str, x: int, *, again: bool) -> bool:  # noqa: ARG002 - one click is enough here
        """A click on a slider sets it there; a click on a choice moves on to the next value."""
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
