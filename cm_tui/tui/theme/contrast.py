"""How well one colour is read on another, and the levels of text that every theme gets."""

from __future__ import annotations

from collections.abc import Mapping

from textual.color import Color

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
