"""Every text of our own themes can be read: what is drawn is measured, cell by cell."""

from __future__ import annotations

import time

import pytest
from textual.color import Color

from cm_tui.model import PackRequest
from cm_tui.tui.theme.themes import READABLE, contrast, text_levels
from tests.tui.mode_driver import driving
from tests.tui.recorded_sessions import record_story, sha_of_head

DRAWN = "─━╌╍│╭╮╰╯┌┐└┘▌█▓▒░▏▎▍▋▊▉▔▁▂▃▄▅▆▇▐▕·●"
"""Lines, bars and dots: no text."""


def faint_texts(driver) -> set[tuple[str, str, str]]:
    """Texts on screen with less contrast than they should have; keys that do nothing now are meant to be faint.

    Behind a dialog everything is dim, so only the dialog is looked at.
    """
    screen = driver.app.screen
    area = screen.children[0].region if screen.is_modal else screen.region
    faint = text_levels(driver.app.theme_variables)["faint"].lower()
    found = set()
    for strip in screen._compositor.render_strips()[area.y : area.bottom]:
        for segment in strip.crop(area.x, area.right):
            text = segment.text.strip()
            style = segment.style
            if not text.strip(DRAWN + " ") or style is None or not (style.color and style.bgcolor):
                continue
            front, back = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
            if style.reverse:
                front, back = back, front
            if contrast(front, back) < READABLE and front.hex.lower() != faint:
                found.add((text, front.hex, back.hex))
    return found


async def faint_in_any_theme(driver) -> set[tuple[str, str, str]]:
    """Return such texts of what is shown now, in both themes; the other one stays."""
    driver.app.clear_notifications()
    seen = faint_texts(driver)
    driver.app.theme = "cm-light" if driver.app.theme == "cm-dark" else "cm-dark"
    await driver.settle()
    driver.app.clear_notifications()
    return seen | faint_texts(driver)


async def test_every_text_has_contrast(project):
    async with driving(project) as driver:
        record_story(project, sha_of_head(project), now=time.time())
        driver.app.pack_selection.add([PackRequest("src/store.py", 8, 10, "Store.load", "chosen")])
        seen = await faint_in_any_theme(driver)
        for keys in (
            ("question_mark",), ("escape", "b"), ("n", "2", "l", "o", "a", "d"), ("enter", "t"), ("right", "escape"),
            ("enter",), ("tab",), ("f4",), ("tab",), ("escape", "b"), ("escape", "f5"),
            ("f6",), ("b", "m"), ("L",), ("enter",), ("s", "f3"), ("f2", "escape"),
            ("f7",), ("enter",), ("space", "enter", "v"), ("f",), ("escape", "slash", "z"),
        ):  # fmt: skip
            await driver.press(*keys)
            seen |= await faint_in_any_theme(driver)
        assert not seen


def test_levels_hold_on_every_ground():
    variables = {"foreground": "#111111", "background": "#ffffff", "panel": "#dddddd"}
    levels = text_levels(variables)
    for name, least in (("soft", 7.0), ("muted", READABLE)):
        assert contrast(Color.parse(levels[name]), Color.parse("#dddddd")) >= least
    assert contrast(Color.parse("black"), Color.parse("white")) == pytest.approx(21)
