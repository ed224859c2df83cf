"""Lines of files as a model may see them."""

from cm_tui.engine.context.packs.clean_source import clean_lines, clean_source

__all__ = ["clean_lines", "clean_source"]
