"""`custom`: a processor of an installed Python package, an entry point of the group `cm_tui.processors`.

It is called with the items and the options, and returns items: mappings with a `text` and other JSON values.
"""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import Any

from cm_tui.engine.context.definitions.shapes.ingestion import Custom
from cm_tui.engine.context.ingestion.batch import MOST_ITEMS, Batch, Means, numbered
from cm_tui.errors import CmError, NotFoundError, RefusedError

GROUP = "cm_tui.processors"


def run(step: Custom, batch: Batch, means: Means) -> None:
    """Replace the items by its result."""
    name = step.entry_point
    if name not in means.allowed:
        raise RefusedError(
            f"The processor {name!r} is not allowed to run.",
            hint=f'Put it into your own settings: context.processors = ["{name}"].',
        )
    found = next(iter(entry_points(group=GROUP, name=name)), None)
    if found is None:
        known = ", ".join(sorted(one.name for one in entry_points(group=GROUP))) or "none"
        raise NotFoundError(f"No installed package offers the processor {name!r}.", hint=f"There are: {known}.")
    try:
        items = found.load()(json.loads(json.dumps(batch.items)), dict(step.options))
        batch.items = [numbered(_checked(one), place) for place, one in enumerate(items)][:MOST_ITEMS]
    except CmError:
        raise
    except Exception as error:
        raise CmError(f"The processor {name!r} failed: {type(error).__name__}: {error}"[:500]) from error


def _checked(item: Any) -> dict[str, Any]:
    plain: Any = json.loads(json.dumps(item))
    if not isinstance(plain, dict):
        raise TypeError("it has to return mappings")
    return {**plain, "text": str(plain.get("text", ""))}
