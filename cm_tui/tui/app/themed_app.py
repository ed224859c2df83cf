"""The application's own themes, and the colours that every other theme is completed with."""

from __future__ import annotations

from textual.app import App

from cm_tui.tui.theme.contrast import text_levels
from cm_tui.tui.theme.themes import CM_DARK, CM_LIGHT, DARK_PARTS, style_sheets


class ThemedApp(App[int]):
    """An application with our style sheets and themes."""

    def __init__(self) -> None:
        super().__init__(css_path=style_sheets())
        self.register_theme(CM_DARK)
        self.register_theme(CM_LIGHT)
        # From the beginning: every widget is styled again when another theme is put on later.
        self.set_reactive(App.theme, CM_DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of score parts for themes that have none."""
        return DARK_PARTS

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, with the levels of text."""
        variables = super().get_css_variables()
        self.theme_variables = {**variables, **text_levels(variables)}
        return self.theme_variables
