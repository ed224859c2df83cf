"""Commands that are run again and again: what is one, in which form, and what speaks against it."""

from __future__ import annotations

import pytest

from cm_tui.engine.memory.narrator.miners.commands import mine_commands
from cm_tui.model import Step
from tests.engine.narrator.miners.turns import ROOT, bash, claims, codex, texts, turn


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (f"cd {ROOT} && uv run pytest -q", "uv run pytest -q"),
        ("uv run pytest -q 2>&1 | tail -20", "uv run pytest -q"),
        ("uv run pytest -q > /tmp/out.txt 2>&1; tail -5 /tmp/out.txt", "uv run pytest -q"),
        (f"timeout 600 {ROOT}/.venv/bin/python -m mypy {ROOT}/src", ".venv/bin/python -m mypy src"),
        ("CI=1 NO_COLOR=1 npm run build", "npm run build"),
        ("RAILS_ENV=test bin/rails db:prepare", "RAILS_ENV=test bin/rails db:prepare"),
        (f"cd {ROOT}/apps/web && pnpm build", "cd apps/web && pnpm build"),
        ("(cd apps/web && pnpm build)", "cd apps/web && pnpm build"),
        ("time make lint", "make lint"),
        ("cargo clippy --all-targets -- -D warnings", "cargo clippy --all-targets -- -D warnings"),
        ("./mvnw -q verify", "./mvnw -q verify"),
        ("dotnet test src/Shop.sln", "dotnet test src/Shop.sln"),
        ("vendor/bin/phpstan analyse", "vendor/bin/phpstan analyse"),
        ("cmake --build build -j8", "cmake --build build -j8"),
        ("terraform -chdir=infra plan", "terraform -chdir=infra plan"),
        ("pg_dump shop | psql shop_copy", "pg_dump shop | psql shop_copy"),
        ("nix run .#app", "nix run .#app"),
        ("iconv -t UTF-8 a.txt", "iconv -t UTF-8 a.txt"),
        ("acme lists build", "acme lists build"),
    ],
)
def test_a_command_is_taken_out_of_what_dresses_it(line: str, command: str) -> None:
    found = claims(mine_commands, turn(bash(line)))
    assert set(found) == {command}
    assert found[command].weight == 1
    assert f"`{command}`" in found[command].text
    assert found[command].quote == line


@pytest.mark.parametrize(
    "line",
    [
        "git status", "git diff --stat", "git log --oneline -5", "git add -A && git commit -m 'x'", "git push origin main", "ls -la src", "cat README.md",
        "rg -n foo src | head", "sed -n 1,20p a.py", "find . -name '*.py'", "pwd", "wc -l a", "head -5 a", "cd src", "echo done", "mkdir -p a/b", "rm -rf x",
        "python -c 'print(1)'", "node -e 'x'", "python - <<'EOF'\nprint(1)\nEOF", "psql shop -c 'select 1'", "curl -s localhost:8000/x", "which node",
        "npm ls", "npm install lodash", "npm install", "bundle install", "pip install requests", "docker ps", "docker compose logs web", "kubectl get pods", "go env", "cargo --version", "node -v",
        "pytest --help", "gh pr view 12", "kill 12345", "for f in *.py; do ruff check $f; done", "if true; then make; fi", "cd /tmp/other && make all",
        "cd $DIR && make all", "./run.sh /home/bob/data.csv", "make deploy TAG=$(git rev-parse HEAD)", "python /tmp/try.py", "make x SHA=9f8c2d1e4b7a",
        "cat a | ./filter", "sleep 5", "true || make", "xargs make",
        "acme tasks list --json", "acme status", "acme tasks get 12", "terraform state list", "acme start --task 008", "acme dir task#011",
        "acme start '#XXX'", "acme review ABC-311",
    ],
)  # fmt: skip
def test_what_teaches_nothing_about_a_project_is_no_command(line: str) -> None:
    assert claims(mine_commands, turn(bash(line))) == {}


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("uv run pytest -q tests/test_cart.py", "uv run pytest -q"),
        ("pytest tests/test_a.py::test_b -k total", "pytest"),
        ("npx vitest run src/cart.test.ts -t 'adds up'", "npx vitest run"),
        ("go test ./... -run TestCart", "go test ./..."),
        ("./gradlew :core:test --tests '*CartTest'", "./gradlew :core:test"),
        ("dotnet test --filter=Name~Cart", "dotnet test"),
        ("ruff check src/cart.py", "ruff check"),
        ("bundle exec rspec spec/models/cart_spec.rb:12", "bundle exec rspec"),
        ("vendor/bin/phpunit tests/CartTest.php", "vendor/bin/phpunit"),
        ("mvn -q test -Dtest=CartTest", "mvn -q test"),
    ],
)
def test_arguments_of_the_task_at_hand_are_left_out_and_count_less(line: str, command: str) -> None:
    found = claims(mine_commands, turn(bash(line)))
    assert set(found) == {command}
    assert found[command].weight == 0.5


@pytest.mark.parametrize("line", ["python scripts/seed.py", "node scripts/thumbs.mjs", "docker compose -f dev.yml up -d", "sqlc -f sqlc.yaml generate",
                                  "pytest tests/integration", "go run ./cmd/depotd", "bash scripts/ci.sh", "flutter run -t lib/main_dev.dart",
                                  "cargo run --example demo", "make -k check"])  # fmt: skip
def test_a_script_or_a_folder_is_part_of_the_command(line: str) -> None:
    found = claims(mine_commands, turn(bash(line)))
    assert {(one, found[one].weight) for one in found} == {(line, 1.0)}


def test_agents_call_their_shell_differently() -> None:
    for step in (bash("make lint"), codex("cd /home/ann/shop && make lint"), Step("tool", "make lint", "bash"), Step("tool", "make lint", "run_shell_command"),
                 Step("tool", "make lint", "functions.exec_command")):  # fmt: skip
        assert set(claims(mine_commands, turn(step))) == {"make lint"}
    for step in (
        Step("tool", "make lint", "Read"),
        Step("said", "make lint", "Bash"),
        Step("tool", "make lint", "WebFetch"),
        Step("thought", "make lint"),
    ):
        assert claims(mine_commands, turn(step)) == {}


def test_what_a_person_ran_counts() -> None:
    assert set(claims(mine_commands, turn(prompts=("! make lint",)))) == {"make lint"}
    assert set(claims(mine_commands, turn(type="command", prompts=("make lint",)))) == {"make lint"}
    assert claims(mine_commands, turn(prompts=("please run make lint",))) == {}


def test_a_failure_speaks_against_a_command_but_not_against_a_check() -> None:
    assert claims(mine_commands, turn(bash("make seed", "no database", failed=True)))["make seed"].opposes
    assert (
        claims(mine_commands, turn(bash("make seed", "no database", failed=True), bash("make seed")))[
            "make seed"
        ].opposes
        is False
    )
    assert claims(mine_commands, turn(bash("pytest -q", "2 failed", failed=True))) == {}


@pytest.mark.parametrize("output", ["bash: nosetests: command not found", "make: *** No rule to make target 'nosetests'.  Stop.", 'npm ERR! Missing script: "nosetests"',
                                    "error: no such command: `nosetests`"])  # fmt: skip
def test_a_command_that_is_not_there_is_opposed_also_behind_a_filter(output: str) -> None:
    assert claims(mine_commands, turn(bash("nosetests", output, failed=True)))["nosetests"].opposes
    assert claims(mine_commands, turn(bash("nosetests 2>&1 | tail -3", output)))["nosetests"].opposes


def test_of_several_commands_nobody_knows_which_one_failed() -> None:
    assert claims(mine_commands, turn(bash("make lint && make seed", "oh", failed=True))) == {}


def test_it_says_what_a_command_is_for_where_its_words_do() -> None:
    said = {
        line: texts(mine_commands(turn(bash(line))))[0]
        for line in ("npm test", "ruff format", "cargo build --release", "just frobnicate")
    }
    assert said == {
        "npm test": "Tests are run with `npm test`",
        "ruff format": "The code is formatted with `ruff format`",
        "cargo build --release": "It is built with `cargo build --release`",
        "just frobnicate": "`just frobnicate` is run again and again",
    }


def test_a_mark_of_a_secret_is_never_in_a_command() -> None:
    assert (
        claims(
            mine_commands,
            turn(bash("API_KEY=[redacted: token] make seed"), bash("make seed --key '[redacted: token]'")),
        )
        == {}
    )


def test_a_turn_of_ten_thousand_steps_is_looked_at_within_bounds() -> None:
    steps = tuple(bash(f"make target{number}") for number in range(10_000))
    assert 0 < len(list(mine_commands(turn(*steps)))) <= 60


@pytest.mark.parametrize(
    "script",
    [
        'const r = await tools.exec_command({"cmd":"make lint"}); text(r.output);',
        "text(ALL_TOOLS.filter(x => x.name));",
        "text(matches);\nmake lint",
    ],
)
def test_a_script_of_codex_is_no_line_of_a_shell(script: str) -> None:
    assert not claims(mine_commands, turn(Step("tool", script, "exec")))
    assert set(claims(mine_commands, turn(Step("tool", "make lint", "exec")))) == {"make lint"}
