"""An edit whose result is missing is a file of its turn, and in no patch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, Codex, OpenCode

_PATCH = "*** Begin Patch\n*** Add File: shop/tax.py\n+y = 1\n*** End Patch"
RESULTS = {"missing": (("shop/tax.py",), False), "failed": ((), False), "there": (("shop/tax.py",), True)}


def _claude(machine: Machine, result: str) -> None:
    one = Claude(machine.claude, machine.root)
    given = {"file_path": f"{machine.root}/shop/tax.py", "content": "y = 1\n"}
    records = [
        one.asked("Add the tax"),
        one.used("Write", given, "w"),
        one.used("Read", {"file_path": "shop/money.py"}, "r"),
    ]
    one.write([*records, *([] if result == "missing" else [one.got("w", "x", failed=result == "failed")])])


def _codex(machine: Machine, result: str) -> None:
    one = Codex(machine.codex, machine.root)
    records = [
        one.meta(),
        one.event("user_message", message="Add the tax"),
        one.item("custom_tool_call", name="apply_patch", input=_PATCH, call_id="1"),
    ]
    output = json.dumps({"output": "x", "metadata": {"exit_code": int(result == "failed")}})
    one.write(
        [*records, *([] if result == "missing" else [one.item("custom_tool_call_output", call_id="1", output=output)])]
    )


def _opencode(machine: Machine, result: str) -> None:
    one = OpenCode(machine.data, machine.root)
    one.session("ses_a")
    status = {"missing": "running", "failed": "error", "there": "completed"}[result]
    state: dict[str, Any] = {
        "status": status,
        "input": {"filePath": f"{machine.root}/shop/tax.py", "content": "y = 1\n"},
    }
    one.message("ses_a", "user", [{"type": "text", "text": "Add the tax"}])
    one.message("ses_a", "assistant", [{"type": "tool", "tool": "write", "callID": "w", "state": state}])
    one.write_files()


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("make", [_claude, _codex, _opencode])
def test_a_file_is_one_of_its_turn_unless_the_edit_failed(machine: Machine, make: Any, result: str):
    make(machine, result)
    machine.run()
    (record,) = machine.episodes()
    files, has_patch = RESULTS[result]
    assert (record.files, "+y = 1" in record.patch) == (files, has_patch)


def test_an_edit_without_result_is_of_the_turn_that_made_it(machine: Machine):
    one = Claude(machine.claude, machine.root)
    path = f"{machine.root}/shop/tax.py"
    one.write(
        [
            one.asked("First"),
            one.used("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "e"),
            *one.turn("Second", "Two."),
        ]
    )
    machine.run()
    assert [(record.prompts, record.files) for record in machine.episodes()] == [
        (("First",), ("shop/tax.py",)),
        (("Second",), ()),
    ]
