"""From an episode to the code that it touched, at its line, and back."""

from __future__ import annotations

from tests.tui.mode_driver import driving
from tests.tui.recorded_sessions import PATCH, record, sha_of_head

HEAD = "diff --git a/src/service.py b/src/service.py\n--- a/src/service.py\n+++ b/src/service.py\n"
BY_TEXT = f'{HEAD}@@ -1,1 +1,2 @@\n-    pass\n+    thing.sync()\n+    report("x")\n'
NO_NUMBERS = f"{HEAD}@@\n def make_store() -> Store:\n-    pass\n+    return Store()\n"
GONE = f"{HEAD}@@ -1,1 +1,1 @@\n-    pass\n+    what nobody has any more\n"
APPLIED = f"{HEAD}@@ def report\n-    pass\n+    return str(store.load(name))\n"


CHANGES = {
    "numbers": (PATCH, 8, True),
    "text": (BY_TEXT, 15, True),
    "its own lines": (NO_NUMBERS, 6, True),
    "apply": (APPLIED, 11, True),
    "gone": (GONE, 1, False),
}
"""The patch of an episode, the line that it leads to, and whether that is where the change is."""


async def test_the_first_change_of_a_file_is_where_it_opens_and_escape_leads_back(project):
    for number, (name, (patch, _, _)) in enumerate(CHANGES.items()):
        record(
            project, name, patch=patch, head=sha_of_head(project), actor="import", files=("src/service.py",),
            session=f"s{number}",
        )  # fmt: skip
    async with driving(project) as driver:
        for number, (name, (_, line, known)) in enumerate(CHANGES.items()):
            await driver.anew("5")
            driver.app.screen.filter_input.value = f"session:s{number}"
            await driver.settle()
            await driver.press("enter", "o")
            assert driver.app.current_mode == "symbols"
            assert driver.app.screen.code.current.number == line, name
            assert any("is unknown" in words for words in driver.told) != known, name
            await driver.press("escape")
            assert driver.app.current_mode == "episodes"
            assert driver.app.screen.story.episode.prompts == (name,)
        await driver.press("o", "2", "escape", "3", "escape")
        assert driver.app.current_mode == "symbols", "who went elsewhere is not led back"
