"""Redacted lines of files, for models and other machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cm_tui.engine.platform.redaction.key_blocks import has_key_lines, mark_key_lines
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError
from cm_tui.model import Source

ReadSource = Callable[[str, int, int | None], Source]
"""Lines of a file, 1-based and inclusive, by default to its end; raises a `CmError` when the file is missing."""


def clean_source(read: ReadSource, path: str, start_line: int, end_line: int | None) -> Source:
    """Return lines of a file with each secret replaced by `[redacted: KIND]`; line numbers are unchanged.

    Args:
        read: reads lines.
        path: the file.
        start_line: the first line.
        end_line: the last one; None: to the end.

    Raises:
        CmError: the file is missing.
    """
    part = read(path, start_line, end_line)
    return replace(part, text=clean_lines(read, path, part.start_line, part.text))


def clean_lines(read: ReadSource, path: str, start_line: int, text: str) -> str:
    """Return lines that were read from a file without the secrets in them.

    Args:
        read: reads lines.
        path: the file.
        start_line: number of the first line.
        text: the lines.
    """
    if has_key_lines(text):
        # Lines above or below may mark a secret, or plain data.
        try:
            whole = read(path, 1, None).text
        except CmError:
            whole = ""
        here = slice(start_line - 1, start_line + text.count("\n"))
        same = whole.split("\n")[here] == text.split("\n")
        text = "\n".join(redact(whole).text.split("\n")[here]) if same else mark_key_lines(text)
    return redact(text).text
