"""The overview counts memories that name missing code, and Review decides on each."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.api.engine import Engine
from tests.tui.mode_driver import driving, git


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", message)


async def test_they_are_counted_listed_fixed_confirmed_and_archived(project: Path):
    (project / ".gitignore").write_text(".cm\n")
    commit(project, "ignore")
    with Engine.open(project) as engine:
        list(engine.index())
        renamed = engine.remember("`make_store` is slow")
        gone = engine.remember("`everything` hides errors")
        archived = engine.remember("see src/remote.py")
        service = project / "src/service.py"
        text = service.read_text().replace("make_store", "open_store").partition("def everything")[0]
        service.write_text(text)
        (project / "src/remote.py").unlink()
        commit(project, "Call it open")
        list(engine.index())
        list(engine.backfill(depth=100))
    async with driving(project) as driver:
        await driver.press("f1")
        await driver.until(lambda: "3 memories name missing or renamed code" in driver.text)
        assert "3 items wait for your decision" in driver.text
        await driver.until(lambda: driver.badges == {"7": 3})
        await driver.press("t")
        await driver.until(lambda: "`make_store`" in driver.text)
        assert "gone since" in driver.text
        items = driver.app.screen.proposals
        items.cursor = next(place for place, item in enumerate(items.rows) if "everything" in item.title)
        await driver.press("a")
        assert any("the new name is unknown" in told for told in driver.told)
        await driver.press("d")
        await driver.until(lambda: len(items.rows) == 2)
        await driver.until(lambda: driver.badges == {"7": 2})
        items.cursor = next(place for place, item in enumerate(items.rows) if "make_store" in item.title)
        await driver.press("a")
        await driver.until(lambda: len(items.rows) == 1)
        await driver.until(lambda: driver.badges == {"7": 1})
        await driver.press("x")
        await driver.until(lambda: "No matches for kind:outdated" in driver.text)
        await driver.until(lambda: driver.badges == {})
        await driver.press("u")
        await driver.until(lambda: "see src/remote.py" in driver.text)
        await driver.until(lambda: driver.badges == {"7": 1})
        await driver.press("x")
        await driver.until(lambda: "No matches for kind:outdated" in driver.text)
    with Engine.open(project) as engine:
        assert engine.entry(renamed.id).content == "`open_store` is slow"
        left = {one.id for one in engine.entries().rows}
        assert renamed.id in left
        assert len(left & {gone.id, archived.id}) == 1
