"""Where vectors are switched off, no screen speaks as if some were still to come."""

from __future__ import annotations

import re

from cm_tui.engine.api.engine import Engine
from tests.tui.mode_driver import driving


async def test_no_screen_waits_for_vectors_that_are_switched_off(project, monkeypatch):
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    with Engine.open(project) as engine:
        list(engine.index())
        assert not engine.status().has_vectors
    async with driving(project, size=(160, 50)) as driver:
        for mode in ("1", "5", "2"):
            await driver.press(mode)
            if mode == "2":
                await driver.type("store")
            text = driver.text
            about_vectors = "\n".join(line for line in text.splitlines() if "vector" in line.lower())
            assert "yet" not in about_vectors, text
            assert not re.search(r"vectors? 0%|0 of [\d,]+ passages|0 with a vector", about_vectors), text
            assert re.search(r"vectors off|disabled", about_vectors), text
