"""From an episode to the code that it touched, at its line, and back."""

from __future__ import annotations

import pytest

from tests.tui.mode_driver import driving
from tests.tui.recorded_sessions import PATCH, record, sha_of_head

HEAD = "diff --git a/src/service.py b/src/service.py\n--- a/src/service.py\n+++ b/src/service.py\n"
BY_TEXT = f'{HEAD}@@ -1,1 +1,2 @@\n-    pass\n+    thing.sync()\n+    report("x")\n'
NO_NUMBERS = f"{HEAD}@@\n def make_store() -> Store:\n-    pass\n+    return Store()\n"
GONE = f"{HEAD}@@ -1,1 +1,1 @@\n-    pass\n+    what nobody has any more\n"
APPLIED = f"{HEAD}@@ def report\n-    pass\n+    return str(store.load(name))\n"


@pytest.mark.parametrize(
    ("patch", "line", "known"),
    [(PATCH, 8, True), (BY_TEXT, 15, True), (NO_NUMBERS, 6, True), (APPLIED, 11, True), (GONE, 1, False)],
    ids=["numbers", "text", "its own lines", "apply", "gone"],
)
async def test_the_first_change_of_a_file_is_where_it_opens_and_escape_leads_back(project, patch, line, known):
    record(project, "change it", patch=patch, head=sha_of_head(project), actor="import", files=("src/service.py",))
    async with driving(project, mode="7") as driver:
        await driver.press("enter", "o")
        assert driver.app.current_mode == "symbols"
        assert driver.app.screen.code.current.number == line
        assert any("is not known" in words for words in driver.told) != known
        await driver.press("escape")
        assert driver.app.current_mode == "episodes"
        assert driver.app.screen.story.episode.prompts == ("change it",)
        await driver.press("o", "2", "escape", "3", "escape")
        assert driver.app.current_mode == "symbols", "who went elsewhere is not led back"
