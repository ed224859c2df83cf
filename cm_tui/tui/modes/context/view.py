"""What the context mode shows: the prompt, the budget, the sources in order, and what the cursor is on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Literal

from textual import getters
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import Assembly, AssemblyDiff, AssemblyHead, Definitions, Page
from cm_tui.model.dates import local_minute
from cm_tui.tui.modes.context import rows as details
from cm_tui.tui.modes.context.rows import SnapshotRow, SnapshotRows, SourceRow, SourceRows, source_rows
from cm_tui.tui.screens.list_mode import InputMode
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import FittedLine, Panel, Split, Words, end_waiting, show_waiting
from cm_tui.tui.widgets.text import elide_middle, number_of, one_line

Tab = Literal["text", "why", "time", "files"]
TABS: tuple[Tab, ...] = ("text", "why", "time", "files")
TITLES: dict[Tab, str] = {"text": "Text", "why": "Why", "time": "Timing", "files": "Files"}
TYPING = 0.25
"""Seconds without a key before the filter applies."""
DIM_AFTER = 0.15
"""Seconds before a pending request dims the panel."""
SHORTEST = 2
"""Characters of a prompt: one is the key of another mode, pressed in the input."""
DEFAULT_BUDGET = 4_000
_SHOWN = 200
NO_PROMPT = (
    "Type a prompt to see the context that an agent would receive. @ mentions files, symbols, notes and episodes. "
    "Esc, then s lists snapshots of what agents received."
)
ASSEMBLING = "Assembling…"
NO_SNAPSHOTS = "No snapshots yet. Each context that an agent receives is saved as one; K saves this one."
NO_SUCH_SNAPSHOT = "No matching snapshots. / changes the filter; an empty filter lists all."


class LineList(RowList[Content]):
    """Read-only lines, which were laid out for the width there is."""

    is_text = True


class ContextView(InputMode):
    """Prompt and budget above; sources, or snapshots, and a panel below."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = DEFAULT_BUDGET
        self.off: set[str] = set()
        """Ids of sources, and `rule://NAME`, that are switched off."""
        self.shown: Assembly | None = None
        self.is_past = False
        """What is shown is a snapshot."""
        self.diff: AssemblyDiff | None = None
        self.definitions: Definitions | None = None
        self.tab: Tab = "text"
        self.heads: Page[AssemblyHead] = Page((), 0)
        self.marked: list[str] = []
        self.lists_snapshots = False
        self._seen: object = None
        self._request = 0
        """The question that is not answered yet, or 0."""

    def compose_body(self) -> Iterable[Widget]:
        """Prompt and budget above; sources, or snapshots, and a panel below."""
        yield Input(id="context-prompt", placeholder="a prompt for an agent; @ mentions files, symbols, notes")
        yield Input(id="context-filter", placeholder="words of a prompt, or session:ID")
        yield Words(id="context-mentions")
        yield FittedLine(id="context-gauge")
        with Split(id="context-body"):
            with Panel(id="context-list-panel", title="Sources"):
                yield SourceRows(id="context-sources", empty=NO_PROMPT)
                yield SnapshotRows(id="context-snapshots", empty=NO_SNAPSHOTS)
                yield Words(id="context-notes")
            yield Panel(
                LineList(draw=lambda row, _: Content.assemble(" ", row), id="context-lines"),
                id="context-detail-panel",
                title=TITLES["text"],
            )

    def on_mount(self) -> None:
        """Restore prompt and budget of the last run."""
        budget = self.kept("budget", DEFAULT_BUDGET)
        self.budget = budget if budget > 0 else DEFAULT_BUDGET
        self.tab = self.kept("tab", self.tab, TABS)
        self.prompt_input.value = self.kept("prompt", "")
        self.show_lists()
        self.sources.focus() if self.prompt else self.prompt_input.focus()
        self.ask_definitions()

    def keep(self) -> None:
        """Prompt, budget and tab."""
        super().keep()
        self.choices.update(prompt=self.prompt, budget=self.budget, tab=self.tab)

    # --- widgets ---

    prompt_input = getters.query_one("#context-prompt", Input)
    filter_input = getters.query_one("#context-filter", Input)

    @property
    def prompt(self) -> str:
        """What an agent is asked, without blanks around it."""
        return self.prompt_input.value.strip()

    sources = getters.query_one("#context-sources", SourceRows)
    snapshots = getters.query_one("#context-snapshots", SnapshotRows)
    lines = getters.query_one("#context-lines", LineList)

    @property
    def list_shown(self) -> RowList[SourceRow] | RowList[SnapshotRow]:
        """The list on the left."""
        return self.snapshots if self.lists_snapshots else self.sources

    @property
    def current(self) -> SourceRow | None:
        """The source under the cursor."""
        return None if self.lists_snapshots else self.sources.current

    # --- assembling ---

    def project_changed(self) -> None:
        """Assemble again when the index has news."""
        if self._seen != self.cm.project.content:
            self._seen = self.cm.project.content
            if not self.is_past and self.diff is None:
                self.assemble()

    def assemble(self, *, delay: float = 0.0) -> None:
        """Ask what would be handed over now."""
        self.is_past, self.diff = False, None
        if self.cm.project.engine != "open":
            self._say(self.cm.project.why_not_searchable or "")
            return
        prompt, budget, off = self.prompt, self.budget, tuple(self.off)
        if len(prompt) < SHORTEST:
            self.drop_question("assemble")
            self._show(None)
            return
        self._request = self.ask(
            "assemble", lambda engine: engine.assemble(prompt, budget=budget, without=off, keep=False), self._show,
            self._failed, delay=delay,
        )  # fmt: skip
        self.set_timer(delay + DIM_AFTER, partial(self._dim, self._request))

    def _dim(self, request: int) -> None:
        """Dim what answers an older question, where the newer one takes longer than a moment."""
        if request != self._request:
            return
        if not self.sources.rows:
            self.sources.set_rows([], empty=ASSEMBLING)
        if not self.lists_snapshots:
            show_waiting(self.query_one("#context-list-panel"), ASSEMBLING)

    def action_into_list(self) -> None:
        """Go into the list, also where its first rows are on their way."""
        if self._request and not self.lists_snapshots and self.focused is self.prompt_input:
            self.sources.focus()
        else:
            super().action_into_list()

    def show_past(self, one: Assembly) -> None:
        """Show a snapshot instead."""
        self.drop_question("assemble")
        self.is_past, self.diff = True, None
        self.lists_snapshots = False
        self.show_lists()
        self._show(one)
        self.sources.focus()

    def _answered(self) -> None:
        self._request = 0
        end_waiting(self.query_one("#context-list-panel"))

    def _show(self, one: Assembly | None) -> None:
        self._answered()
        self.shown = one
        # What is switched off is not read, and keeps the title that it had.
        titles = {row.id: row.source.title for row in self.sources.rows if row.source is not None}
        rows = source_rows(one, self.off, titles) if one is not None else []
        empty = NO_PROMPT if one is None else "No results."
        self.sources.set_rows(rows, cursor=self.sources.cursor, empty=empty)
        if one is not None and not rows and self.focused is self.sources:
            self.prompt_input.focus()
        self._show_gauge()
        self._say_notes()
        self.show_details()
        self.refresh_keys()

    def _show_gauge(self) -> None:
        self.query_one(FittedLine).show(partial(details.budget_line, self.shown, self.budget))

    def _failed(self, error: CmError) -> None:
        self._answered()
        self.shown = None
        self.sources.set_rows([], empty=str(error))
        self._show_gauge()
        self._say(str(error), wrong=True)
        self.show_details()
        self.refresh_keys()

    def _say_notes(self) -> None:
        one = self.shown
        if one is None:
            self._say("")
        elif one.warnings:
            more = f" and {len(one.warnings) - 1} more: v shows them" if len(one.warnings) > 1 else ""
            self._say(f"▲ {one_line(one.warnings[0])}{more}", wrong=True)
        else:
            self._say(f"Disabled: {', '.join(sorted(self.off))}" if self.off else "")

    def _say(self, text: str, *, wrong: bool = False) -> None:
        self.show_words("context-notes", text, wrong=wrong)

    # --- snapshots ---

    def show_lists(self) -> None:
        """Show the sources, or the snapshots with their filter."""
        self.set_class(self.lists_snapshots, "-snapshots")
        if self.lists_snapshots:
            end_waiting(self.query_one("#context-list-panel"))
            self.query_one("#context-mentions").display = False
            self.ask_snapshots()
        self._title_list()

    def ask_snapshots(self, *, delay: float = 0.0) -> None:
        """List the snapshots that fit the filter."""
        words, session = [], ""
        for word in self.filter_input.value.split():
            if word.startswith("session:"):
                session = word.removeprefix("session:")
            else:
                words.append(word)
        match = " ".join(words)
        self.ask(
            "snapshots", lambda engine: engine.assemblies(match=match, session=session, limit=_SHOWN), self._listed,
            delay=delay,
        )  # fmt: skip

    def _listed(self, found: Page[AssemblyHead]) -> None:
        self.heads = found
        self.redraw_snapshots()
        self._title_list()
        self.refresh_keys()

    def redraw_snapshots(self) -> None:
        """Draw the snapshots with their marks."""
        rows = [SnapshotRow(head, head.id in self.marked) for head in self.heads.rows]
        empty = NO_SUCH_SNAPSHOT if self.filter_input.value.strip() else NO_SNAPSHOTS
        self.snapshots.set_rows(rows, cursor=self.snapshots.cursor, empty=empty)

    def _title_list(self) -> None:
        past = self.shown if self.is_past else None
        if self.lists_snapshots:
            self.label("context-list-panel", "Snapshots", number_of(len(self.heads.rows), self.heads.total, "snapshot"))
        elif past is not None:
            self.label("context-list-panel", f"Snapshot of {local_minute(past.time)}", past.id)
        else:
            self.label("context-list-panel", "Sources", "")

    # --- the panel ---

    def ask_definitions(self) -> None:
        """Read the files again that say what is handed over."""
        self.ask("definitions", lambda engine: engine.context_definitions(), self._definitions_changed)

    def _definitions_changed(self, found: Definitions) -> None:
        self.definitions = found
        if self.tab == "files":
            self.show_details()

    def show_details(self) -> None:
        """Show what the cursor is on, in the tab that was chosen."""
        self._title_list()
        lines, title = self._details(max(20, self.lines.size.width - 2))
        others = "" if self.diff else " · ".join(TITLES[one] for one in TABS if one != self.tab)
        self.label("context-detail-panel", title, others)
        same = len(lines) == len(self.lines.rows)
        empty = "" if self.shown else "The context for the prompt is shown here."
        self.lines.set_rows(lines, cursor=self.lines.cursor if same else 0, empty=empty)

    def _details(self, width: int) -> tuple[details.Lines, str]:
        row, one = self.current, self.shown
        source = row.source if row is not None else None
        about = f" · {elide_middle(one_line(source.title), 40)}" if source is not None else ""
        if self.diff is not None:
            return details.diff_lines(self.diff, width), "Differences"
        if self.tab == "files":
            found = self.definitions
            return (details.file_lines(found, width) if found else [], "Definitions and rules")
        if one is None:
            return [], TITLES[self.tab]
        if self.tab == "why":
            return details.why_lines(one, source, width), f"Why{about}"
        if self.tab == "time":
            return details.time_lines(one, width), f"Timing · {one.ms:.0f} ms"
        return details.text_lines(one, source), f"Text{about}"

    def compare(self, found: AssemblyDiff) -> None:
        """Show what differs between two snapshots."""
        self.diff = found
        self.show_details()
        self.lines.focus()
        self.refresh_keys()

    def show_kept(self, one: Assembly) -> None:
        """List the snapshot that was saved of what is shown."""
        if self.shown is not None and not self.is_past:
            self.shown = replace(self.shown, id=one.id)
        self.cm.tell(f"Saved as {one.id}." if one.id else " ".join(one.notes) or "No snapshot was saved.", timeout=3)
        if self.lists_snapshots:
            self.ask_snapshots()
        self.show_details()
