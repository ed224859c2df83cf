"""Reading a document of either format from the bytes of a file."""

from __future__ import annotations

from cm_tui.engine.context.definitions import json_document, yaml_document
from cm_tui.engine.context.definitions.document import MAX_BYTES, Document, DocumentError, Place


def parse(content: bytes, *, is_json: bool) -> Document:
    """Read a document.

    Args:
        content: the bytes of a file.
        is_json: read it as JSON, else as YAML.

    Raises:
        DocumentError: it is neither, or beyond the bounds.
    """
    text = _decoded(content)
    if not text.strip():
        raise DocumentError(Place(1, 1), "the file is empty", "`cm context new` writes one to begin with.")
    return json_document.parse(text) if is_json else yaml_document.parse(text)


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise DocumentError(Place(1, 1), f"the file has more than {MAX_BYTES:,} bytes", "Part it into several files.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        raise DocumentError(place, "this is no UTF-8", "Save the file as UTF-8.") from error
