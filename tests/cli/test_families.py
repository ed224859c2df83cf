"""Which commands are read for which words."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import cm_tui
from cm_tui.__main__ import HELP_COLUMNS
from cm_tui.cli.app import command_line
from cm_tui.cli.declare import Family
from cm_tui.cli.families import _FAMILY_OF, FAMILIES


def commands_of(*arguments: str) -> set[str]:
    return set(typer.main.get_command(command_line(arguments)).commands)


def test_each_word_of_the_table_has_a_command():
    assert commands_of("--help") == set(" ".join(FAMILIES.values()).split())


def help_text() -> str:
    command = typer.main.get_command(command_line(["--help"]))
    with command.make_context("cm", [], resilient_parsing=True, terminal_width=HELP_COLUMNS) as context:
        return f"{command.get_help(context)}\n"


def test_the_saved_help_text_is_that_of_the_commands():
    saved = Path(cm_tui.__file__).parent / "data/help.txt"
    assert saved.read_text() == help_text(), "python -m tests.cli.test_families writes it"


EVERYTHING = set(" ".join(FAMILIES.values()).split())


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["search", "index"], {"search"}),
        (["--json", "search", "x"], {"search"}),
        (["--project", "index", "search", "x"], {"search"}),
        (["-p", "index", "status"], {"index", "rebuild", "status", "skipped"}),
        (["--project=index", "at", "HEAD~1"], set(FAMILIES["history"].split())),
        (["search", "--help"], {"search"}),
        ([], set()),
        (["--episode", "search"], set()),
        (["--version"], set()),
        (["--help"], EVERYTHING),
        (["-p", "x", "-h"], EVERYTHING),
        (["sarch"], EVERYTHING),
        (["--", "search"], EVERYTHING),
    ],
)
def test_what_is_read(arguments, wanted):
    assert commands_of(*arguments) == wanted


@pytest.mark.parametrize("word", sorted(EVERYTHING))
def test_a_family_with_a_list_lists_without_a_command(word):
    member = getattr(import_module(f"cm_tui.cli.{_FAMILY_OF[word]}"), word.replace("-", "_"), None)
    if isinstance(member, Family) and any(one.__name__ == "list_" for one in member.commands):
        assert member.alone is not None


def test_a_shell_that_completes_a_line_is_offered_all(monkeypatch):
    monkeypatch.setenv("_CM_COMPLETE", "complete_bash")
    assert commands_of() == EVERYTHING


@pytest.mark.process
def test_a_question_reads_no_record_that_it_does_not_show():
    asked = "import sys; from cm_tui.cli.app import command_line; import typer, cm_tui.daemon.client; "
    asked += "typer.main.get_command(command_line(['search'])); print(*(n for n in sys.modules if '.model.' in n))"
    read = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "cm_tui.model.text" in read
    assert not {"cm_tui.model.narrator", "cm_tui.model.episode", "cm_tui.model.history"} & set(read)


@pytest.mark.process
def test_the_application_is_opened_without_the_library_of_commands():
    opened = "import sys; sys.argv = ['cm']; from cm_tui.__main__ import _run; print(_run(), 'typer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", opened], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]
    assert "The application needs a terminal." in done.stderr


if __name__ == "__main__":
    (Path(cm_tui.__file__).parent / "data/help.txt").write_text(help_text())
