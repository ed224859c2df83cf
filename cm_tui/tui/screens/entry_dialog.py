"""Writing an entry, or changing one: category, scope, title, keywords and text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast, get_args

from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.model import Category, Scope
from cm_tui.tui.screens.writing import Submit, WritingScreen
from cm_tui.tui.widgets.choice import Choice

_SCOPES = (("project", "this project"), ("user", "all projects"))


@dataclass(frozen=True)
class EntryDraft:
    """An entry as it is to be."""

    content: str = ""
    title: str = ""
    category: Category = "Knowledge"
    scope: Scope = "project"
    keywords: tuple[str, ...] = ()


class EntryDialog(WritingScreen[EntryDraft]):
    """Asks for an entry.

    Args:
        title: what is done with it.
        draft: what stands there already.
        submit: stores it.
    """

    def __init__(self, title: str, draft: EntryDraft, submit: Submit[EntryDraft]) -> None:
        super().__init__(
            title, draft.content, submit, "Title and keywords are taken from the text where you leave them empty."
        )
        self._draft = draft

    def fields(self) -> Iterable[Widget]:
        """Everything but the text."""
        draft = self._draft
        yield Choice("category", [(one, one) for one in get_args(Category)], draft.category, id="entry-category")
        yield Choice("scope", _SCOPES, draft.scope, id="entry-scope")
        for name, value, empty in (
            ("title", draft.title, "the first line of the text"),
            ("keywords", ", ".join(draft.keywords), "with commas between them"),
        ):
            with Horizontal(classes="writing-field"):
                yield Static(Content.styled(f"{name:<10}", "$muted"), classes="writing-label")
                yield Input(value, placeholder=empty, id=f"entry-{name}", compact=True)

    def value(self) -> EntryDraft:
        """Return the entry."""
        words = self.query_one("#entry-keywords", Input).value.split(",")
        return EntryDraft(
            self.area.text.strip(),
            self.query_one("#entry-title", Input).value.strip(),
            cast("Category", self.query_one("#entry-category", Choice).value),
            cast("Scope", self.query_one("#entry-scope", Choice).value),
            tuple(dict.fromkeys(" ".join(word.split()) for word in words if word.strip())),
        )

    def wrong(self, value: EntryDraft) -> str:
        """Return what is wrong with it."""
        return "" if value.content else "There is nothing to write down yet."
