"""Colours: two themes of our own, and the colours of score parts for every theme."""

from __future__ import annotations

from textual.theme import Theme

DARK_PARTS = {
    "part-keyword": "#e8b15d",
    "part-vector": "#6ea8fe",
    "part-adjust": "#74c69d",
    "part-decay": "#a594e8",
    "part-diversity": "#e88aae",
    "part-rerank": "#56c7c7",
}
LIGHT_PARTS = {
    "part-keyword": "#b87414",
    "part-vector": "#2f6fde",
    "part-adjust": "#2b8a57",
    "part-decay": "#7356cf",
    "part-diversity": "#c2447c",
    "part-rerank": "#0f8a8a",
}

PART_GROUPS = ("keyword", "vector", "adjust", "decay", "diversity", "rerank")

PART_MARKS = {"keyword": "█", "vector": "▓", "adjust": "▒", "decay": "░", "diversity": "╌", "rerank": "▚"}
"""What a stacked bar is drawn with where colour is not to be had."""

CM_DARK = Theme(
    name="cm-dark",
    primary="#6ea8fe",
    secondary="#8ea0c4",
    accent="#e8b15d",
    success="#74c69d",
    warning="#e8b15d",
    error="#f0717b",
    foreground="#d7dce8",
    background="#10131a",
    surface="#151922",
    panel="#1e2431",
    dark=True,
    variables={
        **DARK_PARTS,
        "border": "#3b465c",
        "border-blurred": "#2a3242",
        "block-cursor-background": "#2b3a55",
        "block-cursor-foreground": "#f2f5fb",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#222a3a",
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
    primary="#2f6fde",
    secondary="#5b6b86",
    accent="#b87414",
    success="#2b8a57",
    warning="#b87414",
    error="#c9323f",
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
        "input-cursor-background": "#b87414",
        "input-selection-background": "#2f6fde 25%",
        "scrollbar": "#c4cede",
        "scrollbar-hover": "#a9b7cd",
        "scrollbar-active": "#2f6fde",
        "scrollbar-background": "#f4f6fa",
        "scrollbar-background-hover": "#f4f6fa",
        "scrollbar-background-active": "#f4f6fa",
        "scrollbar-corner-color": "#f4f6fa",
    },
)
