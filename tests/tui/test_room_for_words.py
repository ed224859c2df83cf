"""Paths, names and facts get the room that there is, at every width."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from cm_tui.model import FileEntry
from cm_tui.tui.modes.health.texts import wrapped
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow
from cm_tui.tui.modes.symbols.code_tree import CodeTree
from cm_tui.tui.widgets.code_nodes import FileIndex
from cm_tui.tui.widgets.header import Fact, Header, ModeTab
from cm_tui.tui.widgets.relations import Relation, RelationList
from cm_tui.tui.widgets.text import at_home, elide_path, name_and_place

PATH = "src/company/platform/services/accounting/invoices/invoice_line_total_calculator.py:128"
NAME = "InvoiceLineTotalCalculator.compute_total"


@given(st.text("abc/", min_size=1, max_size=60), st.integers(1, 80))
def test_a_shortened_path_uses_all_the_room_there_is(path, width):
    shown = elide_path(path, width)
    assert cell_len(shown) <= width
    name = path.rpartition("/")[2]
    if cell_len(path) <= width:
        assert shown == path
    elif len(name) + 2 <= width:
        assert cell_len(shown) == width
        assert shown.endswith((f"/{name}", f"…{name}")) or name in shown


def test_the_own_folder_is_written_short_where_a_path_begins_with_it(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada.b")
    assert at_home("3 events in /home/ada.b/data, /x/home/ada.b/y") == "3 events in ~/data, /x/home/ada.b/y"
    assert [at_home(path) for path in ("/home/ada.b", "/home/ada.bc/d", "/home/adaxb/d")] == [
        "~",
        "/home/ada.bc/d",
        "/home/adaxb/d",
    ]
    monkeypatch.setenv("HOME", "/")
    assert at_home("/srv/shop") == "/srv/shop"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_rows_with_a_path_leave_no_room_while_it_is_cut(width):
    drawn = [
        HistoryList().draw(HistoryRow("~", "", NAME, "method", PATH, "changed"), width).plain,
        RelationList().draw(Relation(NAME, "method", "a.py", 1, PATH, "same-file"), width).plain,
    ]
    for text in drawn:
        cut = "…" in text
        assert cut == (width < cell_len(NAME) + cell_len(PATH) + 20)
        # One cell is left to the border, and words stand two cells apart.
        assert len(text) == width - 1
        assert not cut or "   " not in text.strip()
        assert "invoice_line_total_calculator.py:128" in text or width < 100


def test_an_own_name_is_whole_before_the_file_it_is_in():
    for name, own in (("Evaluator.evaluate_parameters", "evaluate_parameters"), ("_resolve_duplicates",) * 2):
        for room in range(len(own) + 14, 60):
            shown, place, gap = name_and_place(name, "src/beets/importer_stages.py:334-358", room)
            assert shown.endswith(own), (room, shown)
            assert len(place) >= 12
            assert len(shown + gap + place) == room
    shown, place, _ = name_and_place("very_long_name_of_a_function_that_has_no_room", "src/stages.py:334-358", 40)
    assert "…" in shown
    assert place.endswith("334-358")


def test_a_name_in_the_tree_gets_the_room_to_the_edge():
    name = "invoice_line_total_calculator.py"
    (node,) = FileIndex([FileEntry(name, "python", 1, 1, 1, generated=False)]).children("", 0)
    assert name in CodeTree().draw(node, len(name) + 2).plain
    assert "…" in CodeTree().draw(node, len(name) + 1).plain
    for width in (len(name) - 6, len(name) + 1, len(name) + 2, len(name) + 9):
        drawn = CodeTree().draw(node, width).plain
        assert drawn.rstrip().endswith(".py")
        assert len(drawn) == width, "what is longer would be cut again, at its end"


def test_a_path_is_broken_behind_a_slash():
    words = "store /home/somebody/.local/share/cm-tui/data/projects/commit-dbff459e7e5c is fine"
    for width in range(24, 80):
        lines = wrapped(words, width)
        assert all(len(line) <= width for line in lines)
        assert "".join(lines).replace(" ", "") == words.replace(" ", "")
        assert all(
            line.endswith("/") or "/" not in line or line.rpartition("/")[2] in words.rsplit("/", maxsplit=1)[-1]
            for line in lines
        )


class OneLine(App[None]):
    def __init__(self, name: str, branch: str) -> None:
        super().__init__()
        self.header = Header(
            lambda: [ModeTab(str(n), label, n == 1) for n, label in enumerate(("Overview", "Search", "Symbols", "Pack", "Health", "History"))],
            lambda: [Fact(9, "● hybrid", ""), Fact(0, name, "", "short"), Fact(1, branch, "", "br")],
            lambda _: None,
        )  # fmt: skip

    def compose(self):
        yield self.header

    def get_theme_variable_defaults(self):
        return {"soft": "#cccccc", "muted": "#999999", "faint": "#555555"}


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (200, "customer-relationship-management-suite · feature/invoice-line-totals-with-discounts · ● hybrid"),
        (140, "customer-relationship-management-suite · br · ● hybrid"),
        (100, "short · br · ● hybrid"),
        (80, "● hybrid"),
        (60, "1 Overview 2 Search 3 4 5 6 "),
        (45, " 1 2 Search 3 4 5 6 "),
    ],
)
async def test_the_header_says_in_full_what_there_is_room_for_and_has_every_mode(width, said):
    app = OneLine("customer-relationship-management-suite", "feature/invoice-line-totals-with-discounts")
    async with app.run_test(size=(width, 5)):
        text = app.header.render().plain
        assert cell_len(text) <= width
        assert said in text
        assert "● hybrid" in text


@pytest.mark.parametrize(
    ("width", "named", "fact"),
    [(80, 4, "● hybrid · ◉"), (100, 6, "● hybrid · ◉"), (120, 9, "gum · ● hybrid · ◉"), (130, 9, "⎇ feature/invoice")],
)
async def test_badges_and_a_long_branch_take_no_names_from_modes(width, named, fact):
    labels = ("Overview", "Search", "Symbols", "History", "Episodes", "Memory 2", "Review 12", "Context", "Health")
    branch = "⎇ feature/invoice-line-totals-with-discounts"
    facts = [
        Fact(10, "◉ rec", "", "◉"), Fact(9, "● hybrid", ""), Fact(1, branch, "", branch[:20], cut=True),
        Fact(0, "gum", "", cut=True),
    ]  # fmt: skip
    for behind in ([], [Fact(1, "index behind", "")]):
        app = OneLine("", "")
        app.header = Header(
            lambda: [ModeTab(label, label, n == 1) for n, label in enumerate(labels)],
            lambda behind=behind: [*behind, *facts], lambda _: None,
        )  # fmt: skip
        async with app.run_test(size=(width, 5)):
            text = app.header.render().plain
        assert cell_len(text) <= width
        assert [label for label in labels if label.split()[0] in text] == list(labels[:named])
        assert "index behind" in text if behind else fact in text


@given(st.integers(36, 160), st.sampled_from(["added", "from src/somewhere/else.py Thing.name"]))
@example(36, "from src/somewhere/else.py Thing.name")
def test_the_number_and_the_date_of_an_event_stay_whole(width, word):
    lead = "#1,234 2017-03-04 "
    row = HistoryRow("+", "$success", "Count lines once more", "", PATH, word, lead=lead)
    drawn = HistoryList().draw(row, width).plain
    assert lead in drawn
    assert cell_len(drawn) <= width
    assert word[:3] in drawn
