"""Colours: two themes of our own, and the colours of score parts for every theme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.theme import Theme

from cm_tui.errors import CmError

READABLE = 4.5
"""The least contrast of text (WCAG 2, level AA)."""
LEVELS = {"soft": 7.0, "muted": 4.7, "faint": 2.2}
"""Text beside the main text, text that explains, and what is no text to be read: lines, and keys that do nothing now."""
_GROUNDS = ("background", "surface", "panel", "block-cursor-background", "block-cursor-blurred-background")


def contrast(one: Color, other: Color) -> float:
    """From 1, the same brightness, to 21, black on white."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_levels(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of each level: the foreground, faded as far as its contrast allows on every ground of the theme."""
    foreground = Color.parse(variables["foreground"])
    grounds = [Color.parse(variables[name]) for name in _GROUNDS if name in variables]
    if any(color.ansi is not None for color in (foreground, *grounds)):
        # The terminal's own colours are not known here.
        return {"soft": variables["foreground"], "muted": variables["foreground"], "faint": "ansi_bright_black"}
    grounds = [Color.parse(variables["background"]).blend(ground, ground.a).with_alpha(1) for ground in grounds]
    hardest = min(grounds, key=lambda ground: contrast(foreground, ground))
    return {name: _faded(foreground, hardest, least).hex for name, least in LEVELS.items()}


def _faded(foreground: Color, ground: Color, least: float) -> Color:
    for percent in range(5, 100, 5):
        color = ground.blend(foreground, percent / 100)
        if contrast(color, ground) >= least:
            return color
    return foreground


_PACKAGE = Path(__file__).resolve().parents[2]

_COLOURS = {
    "primary": ("#6ea8fe", "#005ac9"), "secondary": ("#98aacd", "#4f5f7a"), "accent": ("#e8b15d", "#8f4f00"),
    "success": ("#74c69d", "#006f3c"), "warning": ("#e8b15d", "#8f4f00"), "error": ("#ff7d87", "#b82233"),
    "foreground": ("#d7dce8", "#1f2633"), "background": ("#10131a", "#f4f6fa"), "surface": ("#151922", "#fbfcfe"),
    "panel": ("#1e2431", "#e6ebf3"),
}  # fmt: skip
"""Colours in the dark theme, and in the light one."""
_PARTS = {
    "part-keyword": ("#e8b15d", "#8f4f00"), "part-vector": ("#6ea8fe", "#005ac9"), "part-adjust": ("#74c69d", "#006f3c"),
    "part-decay": ("#ab9aee", "#674ac3"), "part-diversity": ("#e88aae", "#ad2e67"), "part-rerank": ("#56c7c7", "#006c6c"),
}  # fmt: skip
_VARIABLES = {
    "border": ("#3b465c", "#b4c0d3"), "border-blurred": ("#2a3242", "#d3dbe7"),
    "block-cursor-background": ("#26344e", "#cfdffb"), "block-cursor-foreground": ("#f2f5fb", "#111722"),
    "block-cursor-text-style": ("none", "none"), "block-cursor-blurred-background": ("#1f2737", "#e2e9f4"),
    "block-cursor-blurred-foreground": ("#d7dce8", "#1f2633"), "input-cursor-background": ("#e8b15d", "#8f4f00"),
    "input-selection-background": ("#6ea8fe 35%", "#005ac9 25%"), "scrollbar": ("#2c3547", "#c4cede"),
    "scrollbar-hover": ("#3d4960", "#a9b7cd"), "scrollbar-active": ("#6ea8fe", "#005ac9"),
    "scrollbar-background": ("#10131a", "#f4f6fa"), "scrollbar-background-hover": ("#10131a", "#f4f6fa"),
    "scrollbar-background-active": ("#10131a", "#f4f6fa"), "scrollbar-corner-color": ("#10131a", "#f4f6fa"),
}  # fmt: skip
DARK_PARTS = {name: colour for name, (colour, _) in _PARTS.items()}

PART_GROUPS = ("keyword", "vector", "adjust", "decay", "diversity", "rerank")

PART_MARKS = {"keyword": "█", "vector": "▓", "adjust": "▒", "decay": "░", "diversity": "╌", "rerank": "▚"}
"""What a stacked bar is drawn with where colour is not to be had."""


def _theme(name: str, column: int) -> Theme:
    """Make a theme from a column of the tables."""
    colours: dict[str, Any] = {colour: values[column] for colour, values in _COLOURS.items()}
    variables = {colour: values[column] for colour, values in {**_PARTS, **_VARIABLES}.items()}
    return Theme(name=name, dark=column == 0, variables=variables, **colours)


CM_DARK, CM_LIGHT = _theme("cm-dark", 0), _theme("cm-light", 1)


def style_sheets() -> list[str | PurePath]:
    """Every style sheet: beside the package in a checkout, inside it in a wheel."""
    for folder in (_PACKAGE / "styles", _PACKAGE.parent / "styles"):
        if sheets := sorted(folder.glob("*.tcss")):
            return list(sheets)
    raise CmError("The style sheets of the application are missing.", hint="Install cm-tui again.")


class ParsedOnce(Stylesheet):
    """A style sheet that is parsed again only with other variables: Textual does so for the first screen, too."""

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set variables; the current ones change nothing."""
        if variables != self._variables:
            super().set_variables(variables)
            self._require_parse = True

    def reparse(self) -> None:
        """Parse what has not been parsed."""
        if self._require_parse:
            super().reparse()
