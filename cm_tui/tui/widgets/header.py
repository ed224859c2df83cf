"""The top line: modes as tabs, the project, and how far the index is."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from cm_tui.tui.widgets.text import elide_middle, short_count

if TYPE_CHECKING:
    from cm_tui.tui.app.app import CmApp

STAGES = {
    "scan": "scanning", "parse": "parsing", "store": "storing", "keywords": "keywords", "vectors": "vectors",
    "graph": "graph", "done": "done",
}  # fmt: skip


class Header(Widget):
    """One line: ` cm  1 Overview  2 Search …            project ⎇ branch · counts · mode`."""

    DEFAULT_CSS = "Header { dock: top; height: 1; }"

    def refresh_text(self) -> None:
        """Draw again."""
        self.refresh()

    def render(self) -> Content:
        """Tabs on the left, what there is room for on the right."""
        tabs = self._tabs()
        room = self.size.width - cell_len(tabs.plain) - 2
        facts = self._facts(room)
        gap = max(1, self.size.width - cell_len(tabs.plain) - cell_len(facts.plain) - 1)
        return Content.assemble(tabs, " " * gap, facts)

    @property
    def _cm(self) -> CmApp:
        return cast("CmApp", self.app)

    async def on_click(self, event: events.Click) -> None:
        """A click on a tab shows its mode."""
        if mode := event.style.meta.get("mode"):
            await self._cm.action_go(mode)

    def _tabs(self) -> Content:
        cm = self._cm
        parts: list[Content | tuple[str, str | Style]] = [(" cm ", "bold $accent"), (" ", "")]
        for number, (mode, title) in enumerate(cm.MODE_TITLES.items(), start=1):
            current = mode == cm.current_mode
            label = f"{title} {len(cm.pack_selection)}" if mode == "pack" and len(cm.pack_selection) else title
            style = "bold $block-cursor-foreground on $block-cursor-background" if current else "$muted"
            number_style = "bold $accent on $block-cursor-background" if current else "$accent"
            meta = Style.from_meta({"mode": mode})
            tab = Content.assemble((f" {number}", number_style), (f" {label} ", style)).stylize(meta)
            parts.append(tab)
        return Content.assemble(*parts)

    def _facts(self, room: int) -> Content:
        """The most important facts that fit, in the order of the screen."""
        cm = self._cm
        status = cm.project.status
        facts = [(9, *self._state()), (0, elide_middle(cm.root.name or str(cm.root), 24), "bold $foreground")]
        if status and status.branch:
            facts.append((1, f"⎇ {elide_middle(status.branch, 20)}", "$secondary"))
        if status and status.indexed:
            if status.embedded < status.passages and not cm.project.progress:
                facts.append((4, f"vectors {100 * status.embedded // status.passages}%", "$warning"))
            facts.append((2, f"{short_count(status.files)} files", "$muted"))
            facts.append((3, f"{short_count(status.symbols)} symbols", "$muted"))
        kept: list[tuple[int, str, str]] = []
        for fact in facts:  # the most important first
            if sum(cell_len(other[1]) + 3 for other in kept) + cell_len(fact[1]) <= room:
                kept.append(fact)
        dot = Content.styled(" · ", "$faint")
        return dot.join(Content.styled(text, style) for _, text, style in sorted(kept))

    def _state(self) -> tuple[str, str]:  # noqa: PLR0911 - one line for each state, the most pressing first
        """How the index is: progress, or what a search would use now."""
        view, status = self._cm.project, self._cm.project.status
        if (reading := view.reading) and not view.progress and reading.total:
            return f"◔ history {100 * reading.done // reading.total}%", "$accent"
        if step := view.progress:
            share = f" {100 * step.done // step.total}%" if step.total else ""
            return f"◐ {STAGES.get(step.stage, step.stage)}{share}", "$accent"
        if view.daemon == "lost":
            return "◌ reconnecting", "$warning"
        if view.engine == "failed":
            return "✖ not open", "$error"
        if view.engine == "opening" or status is None:
            return "◌ opening", "$muted"
        if not status.indexed:
            return "○ not indexed", "$warning"
        return f"● {status.mode}", "$success" if status.mode == "hybrid" else "$warning"
