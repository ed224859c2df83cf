"""Whether a project has a command now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.mentions.commands import commands_of
from cm_tui.engine.memory.narrator.project_commands import ProjectCommands
from tests.tiers import examples

FILES = {
    "Makefile": "test lint: src\n\tgo test\n\nimage:\n\tko build\n",
    "justfile": "default:\n    just --list\n\nfmt *ARGS:\n    ruff format\n\nalias f := fmt\n",
    "package.json": '{"scripts": {"build": "vite", "test": "vitest", "i18n:check": "x"}}',
    "apps/web/package.json": '{"scripts": {"dev": "vite"}}',
    "composer.json": '{"scripts": {"analyse": "phpstan"}}',
    "Taskfile.yml": "version: '3'\ntasks:\n  build:\n    cmds: [go build]\n",
    "deno.json": '{"tasks": {"dev": "deno run x"}}',
    "noxfile.py": "@nox.session\ndef tests(session): ...\n",
    ".cargo/config.toml": '[alias]\nxtask = "run --package xtask --"\n',
    "scripts/seed.py": "", "scripts/ci.sh": "", "bin/rails": "", "gradlew": "", "apps/web/run.sh": "", ".gitignore": "/made/\n*.log\n",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> ProjectCommands:
    for name, content in FILES.items():
        file = tmp_path / "p" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return ProjectCommands(tmp_path / "p")


THERE = (
    "make test", "make -j4 lint", "make", "make image TAG=x", "just", "just fmt src", "just f", "npm run build", "npm test", "pnpm build", "pnpm run i18n:check",
    "pnpm --filter web dev", "pnpm --filter web run dev", "npm --prefix apps/web run dev", "cd apps/web && npm run dev", "yarn eslint .", "yarn run eslint", "pnpm i18n:check",
    "composer analyse", "composer run analyse", "composer install", "task build", "deno task dev", "nox -s tests", "nox -s tests-3.12", "cargo xtask dist", "cargo nextest run",
    "python scripts/seed.py", "uv run python scripts/seed.py --all", "bash scripts/ci.sh", "./scripts/ci.sh", "bin/rails db:migrate", "./gradlew test", "cd apps/web && ./run.sh",
    # Nobody can tell:
    "pytest -q", "go test ./...", "mvn verify", "rake anything", "dotnet test", "./target/debug/x", "./build/tool", "node_modules/.bin/x", ".venv/bin/x", "made/tool",
    "make -f other.mk x", "just -f other x", "npm run", "/usr/bin/x", "~/bin/x", "$TOOL x", "for x in y; do z; done", "make scripts/ci.sh", "python -m shop.gone", "src/shop/gone.txt",
    "docker compose up -d gone", "deno task", "deno run dev", "nox", "nox -t gone", "nox -s", "make 'a", "", "npm run <name>",
)  # fmt: skip
GONE = (
    "make mocks", "make -C apps/web all", "just seed-demo", "just fmt-all", "npm run mock-server", "pnpm run mock-server", "npm start", "pnpm sync:strings", "pnpm --filter web run gone",
    "cd apps/web && npm run gone", "composer run gone", "composer gone-script", "task gone", "deno task gone", "nox -s gone", "ant dist", "deno run scripts/gone.ts", "bin/import-v1", "./scripts/import.sh",
    "scripts/import.sh --all", "python scripts/gone.py", "uv run python scripts/gone.py", "bash scripts/gone.sh", "cd apps/web && ./gone.sh", "./gone", "make test && make mocks",
)  # fmt: skip


def test_it_is_there_or_nobody_can_tell_and_what_is_certainly_gone_is_gone(project: ProjectCommands) -> None:
    assert [command for command in THERE if not project.there(command)] == []
    assert [command for command in GONE if project.there(command)] == []


def test_the_first_missing_command_of_a_text_is_named(project: ProjectCommands) -> None:
    assert project.missing_in("Run in this order: `make test`, then `make mocks`, then `just gone`") == "make mocks"
    assert project.missing_in("Tests are run with `make test`") == ""


def test_what_is_written_since_counts_at_once(project: ProjectCommands, tmp_path: Path) -> None:
    assert not project.there("make mocks")
    file = tmp_path / "p" / "Makefile"
    file.write_text("mocks:\n\ttrue\n")
    os.utime(file, (1, 1))
    assert project.there("make mocks")
    assert not project.there("make test")
    file.unlink()
    assert not project.there("make mocks")


@pytest.mark.parametrize(
    "content", ["include more.mk\n", "%.o: %.c\n\tcc\n", "$(NAMES):\n\ttrue\n", "define x\nendef\n"]
)
def test_files_that_take_in_others_tell_nothing(project: ProjectCommands, tmp_path: Path, content: str) -> None:
    (tmp_path / "p" / "Makefile").write_text(content)
    assert project.there("make mocks")
    (tmp_path / "p" / "justfile").write_text("import 'more.just'\n")
    assert project.there("just gone")


def test_what_cannot_be_read_tells_nothing(project: ProjectCommands, tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / "package.json").write_bytes(b"[" * 200_000)
    assert not project.there("npm run gone")
    (root / "Makefile").unlink()
    (root / "Makefile").symlink_to("/etc/passwd")
    assert project.there("make mocks")
    (root / "composer.json").write_text("{" * 5)
    assert project.there("composer run gone")
    (root / "justfile").write_bytes(b"x" * 1_000_001)
    assert project.there("just gone")


def test_a_runner_may_find_its_file_above_the_checkout(project: ProjectCommands, tmp_path: Path) -> None:
    (tmp_path / "p" / "justfile").unlink()
    assert not project.there("just fmt")
    (tmp_path / "justfile").write_text("fmt:\n")
    assert project.there("just fmt")


def test_a_hostile_makefile_is_read_in_time() -> None:
    for text in ("a" * 500_000, "a " * 250_000, ("a" * 400 + "\n") * 1_000):
        assert commands_of("Makefile", text.encode()) == {}


@settings(max_examples=examples(200), deadline=None)
@given(
    code=st.one_of(
        st.text(max_size=100),
        st.lists(
            st.sampled_from(
                [
                    "make",
                    "just",
                    "npm",
                    "run",
                    "-C",
                    "--filter",
                    "cd",
                    "..",
                    "&&",
                    "./x",
                    "bin/",
                    "python",
                    "-m",
                    "a:b",
                    "composer",
                    "nox",
                    "-s",
                    "tox",
                    "-e",
                    "",
                ]
            ),
            max_size=8,
        ).map(" ".join),
    )
)
def test_no_command_raises(code: str) -> None:
    assert ProjectCommands(Path(__file__).parent).there(code) in (True, False)
