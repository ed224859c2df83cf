"""The list that other lists are made from."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.content import Content

from cm_tui.tui.widgets.rowlist import RowList


class Names(RowList[str]):
    def draw(self, row: str, width: int) -> Content:
        return Content(row)


class Listed(App[None]):
    def get_css_variables(self) -> dict[str, str]:
        return super().get_css_variables() | {"muted": "gray"}

    def compose(self) -> ComposeResult:
        yield Names()


async def test_the_scrollbar_says_where_the_list_is_after_it_was_too_short_for_one():
    async with Listed().run_test(size=(40, 10)) as pilot:
        names = pilot.app.query_one(Names)
        for rows in (100, 1, 100):
            names.set_rows([str(number) for number in range(rows)])
            await pilot.pause()
            assert not names.show_vertical_scrollbar or names.vertical_scrollbar.position == names.scroll_y == 0
            names.cursor = rows - 1
            await pilot.pause()
        assert names.vertical_scrollbar.position == names.scroll_y == 90


async def test_the_cursor_stays_in_view_when_the_list_gets_shorter():
    async with Listed().run_test(size=(40, 20)) as pilot:
        names = pilot.app.query_one(Names)
        names.set_rows([str(number) for number in range(100)], cursor=15)
        await pilot.pause()
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert names.scroll_y <= names.cursor < names.scroll_y + 10
        names.scroll_to(y=50, animate=False)
        await pilot.resize_terminal(40, 8)
        await pilot.pause()
        assert names.scroll_y == 50, "what was scrolled to is left there"
