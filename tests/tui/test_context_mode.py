"""Context: what is handed over for a prompt, switched, cut, compared with what was handed over before."""

from __future__ import annotations

import threading
from pathlib import Path
from unittest import mock

from cm_tui.tui.terminal import clipboard
from tests.tui.mode_driver import PATIENCE, at, each

SIZES = [(80, 24), (120, 40), (200, 50)]
RELEASE = """name: release
steps:
  - {type: kv_get, keys: [release]}
  - {type: format, template: "Release codename: {{release.codename}}"}
"""


def written(project: Path, *, kv: str = '{"release": {"codename": "Ibis"}}') -> None:
    for path, text in (
        ("retrieval/release.yaml", RELEASE),
        ("rules/notes.yaml", "name: brings-notes\ncondition: {field: task.text, op: contains, value: store}\naction: {include: 'kv://other'}\n"),
        ("memory/kv.json", kv.replace("}}", '}, "other": "brought by a rule"}')),
    ):  # fmt: skip
        file = project / ".cm" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


async def ask(driver, prompt: str = "how does the store load") -> None:
    if driver.app.screen.focused is not driver.app.screen.prompt_input:
        await driver.press("slash")
    await driver.type(prompt)
    await driver.press("enter")
    await driver.settle()


def ids(driver) -> list[str]:
    return [row.id for row in driver.app.screen.sources.rows]


def source(driver, id_: str):
    return next(row.source for row in driver.app.screen.sources.rows if row.id == id_)


async def to(driver, id_: str) -> None:
    driver.app.screen.sources.cursor = ids(driver).index(id_)
    await driver.settle()


@at((80, 24))
async def what_is_handed_over_at_every_size(driver, project):
    written(project)
    assert "Type a prompt to see" in driver.text
    await ask(driver)
    for size in SIZES:
        await driver.resize(size)
        made = driver.app.screen.shown
        assert f"{made.tokens:,} of 4,000 tokens" in driver.text
        assert "release" in driver.text
        assert "pack" in driver.text
        assert all(len(line) <= size[0] for line in driver.text.split("\n"))
    assert ids(driver)[0] == "definition://release" or "kv://other" in ids(driver)
    await to(driver, "definition://release")
    assert "Release codename: Ibis" in driver.text


async def a_source_a_rule_and_the_budget_are_switched_at_once(driver, project):
    written(project)
    await ask(driver)
    before = driver.app.screen.shown.tokens
    await to(driver, "definition://pack")
    await driver.press("space")
    assert source(driver, "definition://pack").cut == "off"
    assert driver.app.screen.shown.tokens < before
    await driver.press("A")
    assert driver.app.screen.shown.tokens == before
    await to(driver, "entries://Rule")
    await driver.press("space")
    assert source(driver, "entries://Rule").cut == "off"
    assert driver.app.screen.sources.current.source.title == "Approved rules"
    await driver.press("A")
    await to(driver, "kv://other")
    await driver.press("r")
    assert "kv://other" not in ids(driver)
    assert "rule://brings-notes" in ids(driver)
    await to(driver, "rule://brings-notes")
    await driver.press("space")
    assert "kv://other" in ids(driver)
    await driver.press("b")
    await driver.press(*["backspace"] * 6)
    await driver.type("nonsense")
    await driver.press("enter")
    assert "Enter a number" in driver.text
    await driver.press(*["backspace"] * 10)
    await driver.type("300")
    await driver.press("enter")
    assert driver.app.screen.shown.budget == 300
    assert driver.app.screen.shown.tokens <= 300
    await driver.press("right_square_bracket", "right_square_bracket", "left_square_bracket")
    assert driver.app.screen.shown.budget == 400


@at((160, 40))
async def reasons_latencies_and_files(driver, project):
    written(project)
    (project / ".cm" / "retrieval" / "wrong.yaml").write_text("name: wrong\nsteps: [{type: vector_serch}]\n")
    await ask(driver)
    assert "wrong.yaml:2" in driver.text
    await to(driver, "kv://other")
    await driver.press("v")
    assert "brings-notes: include → kv://other" in driver.text
    await driver.press("v")
    assert "code_pack" in driver.text
    assert " ms" in driver.text
    await driver.press("v")
    assert "unknown step 'vector_serch'" in driver.text
    assert "definition://pack  built in" in driver.text
    await driver.press("v")
    assert "brought by a rule" in driver.text
    panel = driver.app.screen.query_one("#context-detail-panel")
    await driver.press("z")
    assert not panel.is_on_screen
    await driver.press("z")
    assert panel.is_on_screen


@at((160, 40))
async def snapshots_are_listed_opened_and_compared(driver, project):
    written(project)
    await ask(driver)
    await driver.press("K")
    await driver.until(lambda: bool(driver.app.screen.shown.id))
    first = driver.app.screen.shown.id
    await to(driver, "definition://pack")
    await driver.press("space", "K")
    await driver.press("s")
    assert [row.head.id for row in driver.app.screen.snapshots.rows][-1] == first
    assert "2" in driver.text
    await driver.press("x")
    assert any("mark one or two" in words for words in driver.told)
    await driver.press("m", "j", "x")
    assert "Differences" in driver.text
    assert "definition://pack" in driver.text
    await driver.press("escape")
    await driver.press("enter")
    assert driver.app.screen.is_past
    assert driver.app.screen.shown.id == first
    await driver.press("space")
    assert any("cannot be changed" in words for words in driver.told)
    await driver.press("escape", "escape")
    assert not driver.app.screen.is_past
    await driver.press("s")
    listed = len(driver.app.screen.snapshots.rows)
    await driver.press("K")
    await driver.until(lambda: len(driver.app.screen.snapshots.rows) == listed + 1)
    await driver.press("slash")
    await driver.type("nothing like it")
    await driver.settle()
    assert "No matching snapshots" in driver.text


@at((120, 40))
async def what_is_missing_is_said(driver, project):
    assert "The context for the prompt is shown here." in driver.text
    await driver.press("escape", "e")
    assert any("no source under the cursor" in words for words in driver.told)
    await driver.press("v", "v", "v")
    assert "Create your first" in driver.text
    await driver.press("v", "slash")
    await driver.type("see @src/sto")
    await driver.settle()
    assert "⇥ @src/store.py" in driver.text
    await driver.press("enter", "s")
    await driver.settle()
    assert "No snapshots yet" in driver.text
    assert "⇥ @src/store.py" not in driver.text


async def mentions_are_completed(driver, project):
    await driver.type("see @src/sto")
    await driver.settle()
    assert "⇥ @src/store.py" in driver.text
    await driver.press("tab")
    assert driver.app.screen.prompt_input.value == "see @src/store.py "
    await driver.press("enter")
    await driver.settle()
    assert "file://src/store.py" in ids(driver)


async def enter_goes_to_sources_that_are_on_their_way(driver, project):
    engine, go_on = driver.app.tasks.engine, threading.Event()
    assemble = engine.assemble
    with mock.patch.object(engine, "assemble", lambda *a, **k: assemble(*a, **k) if go_on.wait(PATIENCE) else None):
        await driver.pilot.press(*"store", "enter")
        screen = driver.app.screen
        await driver.until(lambda: screen.focused is screen.sources)
        go_on.set()
        await driver.settle()
    assert screen.focused is screen.sources
    assert screen.sources.rows


async def copying_and_saving(driver, project):
    written(project)
    file = project / "context.md"
    with mock.patch.object(clipboard, "copy", return_value=clipboard.Copied("Copied.", None)) as copy:
        await driver.press("escape", "c")
        assert any("the context is empty" in words for words in driver.told)
        await ask(driver)
        await driver.press("c")
        await driver.settle()
        assert [call.args[0] for call in copy.mock_calls] == [driver.app.screen.shown.text]
        await driver.press("w")
        await driver.press(*["backspace"] * 20)
        await driver.type(str(file))
        await driver.press("enter")
        await driver.settle()
        assert file.read_text() == driver.app.screen.shown.text


async def what_fails_is_told_and_the_rest_is_there(driver, project):
    written(project, kv='{"release": ')
    await ask(driver)
    assert source(driver, "definition://release").cut == "failed"
    assert "def load" in driver.app.screen.shown.text
    await to(driver, "definition://release")
    assert "kv.json:1:" in driver.text


async def test_what_is_handed_over_is_shown_switched_and_kept(project):
    await each(
        project,
        what_is_missing_is_said,
        mentions_are_completed,
        enter_goes_to_sources_that_are_on_their_way,
        snapshots_are_listed_opened_and_compared,
        what_is_handed_over_at_every_size,
        a_source_a_rule_and_the_budget_are_switched_at_once,
        copying_and_saving,
        reasons_latencies_and_files,
        what_fails_is_told_and_the_rest_is_there,
        mode="8",
    )
