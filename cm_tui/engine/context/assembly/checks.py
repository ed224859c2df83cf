"""Whether a definition can be run by hand."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from cm_tui.engine.context.definitions.library import Library
from cm_tui.errors import NotFoundError, RefusedError, UsageError

TEXT = "text"
"""The value that is the prompt."""


def check_definition(library: Library, name: str, given: Mapping[str, str]) -> None:
    """Raise if a definition cannot be run with some values.

    Raises:
        NotFoundError: there is no such definition.
        UsageError: its file has an error, or a value is invalid.
        RefusedError: it is not trusted yet.
    """
    found = library.definition(name)
    if found is None:
        wrong = next((one for one in library.problems if one.severity == "error" and f"/{name}." in one.file), None)
        if wrong is not None:
            raise UsageError(wrong.text, hint="`cm context lint` lists every mistake.")
        near = get_close_matches(name, [one.value.name for one in library.retrieval], 1)
        hint = f"Did you mean {near[0]}?" if near else "`cm context definitions` lists them."
        raise NotFoundError(f"There is no definition {name[:60]!r}.", hint=hint)
    if found.is_held:
        raise RefusedError(
            f"{found.file} waits for trust: it wants to {', '.join(found.asks)}.", hint="`cm trust` decides."
        )
    known = [TEXT, *found.value.params]
    for key in given:
        if key not in known:
            raise UsageError(
                f"The definition {name} takes no value {key[:40]!r}.", hint=f"It takes {', '.join(known)}."
            )
