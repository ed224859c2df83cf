# Recipes for people who work on cm. `just` lists them.

python := "python3"

_default:
    @just --list

# Make an environment with everything in it.
install:
    {{python}} -m venv .venv
    .venv/bin/python -m pip install --constraint requirements.lock --editable '.[dev]'

# Open the application on a repository.
run path=".":
    .venv/bin/cm --project {{path}}

# Run the tests of CI.
test *args:
    .venv/bin/pytest -n 3 --dist worksteal -m "not deep" {{args}}

# Run the tests that need no file and no engine: on every save.
fast *args:
    .venv/bin/pytest -q -n 2 -m "fast and not deep" {{args}}

# Run what CI leaves out: load, soak, growth of time, every property test at full size, every screen at each size.
deep *args:
    .venv/bin/pytest -n 2 --dist worksteal --hypothesis-profile deep -m "deep or hypothesis or screens" {{args}}

# Accept what every screen looks like now; look at the changed pictures before they are committed.
snapshots *args:
    .venv/bin/pytest tests/tui/test_snapshots.py --snapshot-update {{args}}

# Lint, types and import contracts.
check:
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    .venv/bin/lint-imports

# Everything that must hold before a change is handed in.
ci:
    .ci/run

# One of the measurements; without a name, list them.
bench *args:
    .venv/bin/python -m tests.bench {{args}}

# Draw the picture of the rooms in ARCHITECTURE.md from the code.
rooms:
    .venv/bin/python -m tests.architecture.rooms

# Render every screen again.
screenshots path=".":
    .venv/bin/python screenshots/make.py {{path}}

# Build the wheel.
wheel:
    .venv/bin/python -m pip wheel --no-deps --wheel-dir dist .
