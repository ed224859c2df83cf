"""Events as a version wrote them that took no secrets out of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cm_tui.engine.platform.journal import event


@contextmanager
def nothing_redacted() -> Iterator[None]:
    """Have the journal take events as they are."""
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(event, "without_secrets", dict)
        yield
