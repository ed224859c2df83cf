"""Colours: two themes of our own, and the colours of score parts for every theme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

from textual.color import Color
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

DARK_PARTS = {
    "part-keyword": "#e8b15d",
    "part-vector": "#6ea8fe",
    "part-adjust": "#74c69d",
    "part-decay": "#ab9aee",
    "part-diversity": "#e88aae",
    "part-rerank": "#56c7c7",
}
LIGHT_PARTS = {
    "part-keyword": "#8f4f00",
    "part-vector": "#005ac9",
    "part-adjust": "#006f3c",
    "part-decay": "#674ac3",
    "part-diversity": "#ad2e67",
    "part-rerank": "#006c6c",
}

PART_GROUPS = ("keyword", "vector", "adjust", "decay", "diversity", "rerank")

PART_MARKS = {"keyword": "█", "vector": "▓", "adjust": "▒", "decay": "░", "diversity": "╌", "rerank": "▚"}
"""What a stacked bar is drawn with where colour is not to be had."""

CM_DARK = Theme(
    name="cm-dark",
    primary="#6ea8fe",
    secondary="#98aacd",
    accent="#e8b15d",
    success="#74c69d",
    warning="#e8b15d",
    error="#ff7d87",
    foreground="#d7dce8",
    background="#10131a",
    surface="#151922",
    panel="#1e2431",
    dark=True,
    variables={
        **DARK_PARTS,
        "border": "#3b465c",
        "border-blurred": "#2a3242",
        "block-cursor-background": "#26344e",
        "block-cursor-foreground": "#f2f5fb",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#1f2737",
        "block-cursor-blurred-foreground": "#d7dce8",
        "input-cursor-background": "#e8b15d",
        "input-selection-background": "#6ea8fe 35%",
        "scrollbar": "#2c3547",
        "scrollbar-hover": "#3d4960",
        "scrollbar-active": "#6ea8fe",
        "scrollbar-background": "#10131a",
        "scrollbar-background-hover": "#10131a",
        "scrollbar-background-active": "#10131a",
        "scrollbar-corner-color": "#10131a",
    },
)

CM_LIGHT = Theme(
    name="cm-light",
    primary="#005ac9",
    secondary="#4f5f7a",
    accent="#8f4f00",
    success="#006f3c",
    warning="#8f4f00",
    error="#b82233",
    foreground="#1f2633",
    background="#f4f6fa",
    surface="#fbfcfe",
    panel="#e6ebf3",
    dark=False,
    variables={
        **LIGHT_PARTS,
        "border": "#b4c0d3",
        "border-blurred": "#d3dbe7",
        "block-cursor-background": "#cfdffb",
        "block-cursor-foreground": "#111722",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e2e9f4",
        "block-cursor-blurred-foreground": "#1f2633",
        "input-cursor-background": "#8f4f00",
        "input-selection-background": "#005ac9 25%",
        "scrollbar": "#c4cede",
        "scrollbar-hover": "#a9b7cd",
        "scrollbar-active": "#005ac9",
        "scrollbar-background": "#f4f6fa",
        "scrollbar-background-hover": "#f4f6fa",
        "scrollbar-background-active": "#f4f6fa",
        "scrollbar-corner-color": "#f4f6fa",
    },
)


def style_sheets() -> list[str | PurePath]:
    """Every style sheet: beside the package in a checkout, inside it in a wheel."""
    for folder in (_PACKAGE / "styles", _PACKAGE.parent / "styles"):
        if sheets := sorted(folder.glob("*.tcss")):
            return list(sheets)
    raise CmError("The style sheets of the application are missing.", hint="Install cm-tui again.")
