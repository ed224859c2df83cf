"""Repeated commands.

Each command of a shell line counts separately, as `runs.py` writes it; its words are the claim. Excluded are commands
that only look around, that every project uses (`git push`, `mkdir`), programs given with the command, and what depends
on the moment (variables, folders elsewhere, hashes).

Arguments of the task at hand (a test file, a test's name, `-k …`) are dropped: the command without them is observed
with the weight 0.5 instead of 1. A failed run counts against the command, unless it succeeded in the same turn, or is a
check (tests, linters, types, builds: to fail is a valid result); output that reports an unknown command always does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from cm_tui.engine.memory.narrator.lists import words
from cm_tui.engine.memory.narrator.runs import Command, written
from cm_tui.engine.memory.narrator.shell import core_of
from cm_tui.engine.memory.narrator.turn import Observation, Turn

_MOST = 60
"""Different commands of one turn."""
_BARE, _SHORTENED = 1.0, 0.5
_CHOOSING = words("choosing")
_CHOOSING_HERE = re.compile(
    r"(?:-k|-t|-run|--run|--grep|--tests|--test|--testNamePattern|--testPathPatterns?|--gtest_filter|--filter|-Dtest|-Dit\.test|"
    r"-Dsuites|--only-testing|-only-testing|--spec|--seed|--example|--name|-count|--count)[=:].*"
)
_ALONE = frozenset(("--lf", "--ff", "--last-failed"))
_TESTING = re.compile(
    r"(?:[\w.:-]*[:.])?(?:(?:py)?tests?|[a-z]\w*Tests?|e2e|spec|check|run|nextest|pytest|py\.test|jest|vitest|mocha|ava|rspec|minitest|phpunit|pest|ctest|cypress|playwright|testem|"
    r"karma|nose2?|unittest|behave|cucumber|bats|busted|tox|nox)"
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*(?:_test|_spec|\.test|\.spec|Tests?|Spec|IT|_tests|\.cy|\.e2e))\.\w{1,5}(?:[:#].*)?$|::|\.\w{1,5}:\d+"
)
_SOURCE = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|rb|php|cs|fs|c|h|cc|cpp|cxx|hpp|swift|scala|ex|exs|erl|clj|hs|ml|lua|dart|vue|svelte|"
    r"css|scss|md|sql|sh|tf|zig|nim|jl|r|R|html)$"
)
_INTERPRETERS = words("interpreters")


def mine_commands(turn: Turn) -> Iterable[Observation]:
    """Return the commands that the turn ran."""
    found: dict[str, Observation] = {}
    runs = [run for run in turn.runs if run.command.kind == "own" and run.command.is_lasting]
    fine = {run.command.text for run in runs if run.state in ("ok", "unsure")}
    for run in runs:
        if len(found) >= _MOST:
            break
        words = bare(run.command.words)
        opposes = run.state in ("failed", "missing")
        is_answer = run.state == "failed" and (run.command.text in fine or role_of(words) in _CHECKS)
        if run.state == "unknown" or is_answer or not _is_plain(words):
            continue
        is_bare = words == run.command.words
        text = run.command.text if is_bare else _with(run.command, words)
        seen = found.get(text)
        if seen is None or (is_bare and seen.weight < _BARE):
            found[text] = Observation(
                "command", " ".join(core_of(words)[:1]), text, wording(text, words), run.line,
                _BARE if is_bare else _SHORTENED, opposes=opposes,
            )  # fmt: skip
    return found.values()


def is_fact(command: Command) -> bool:
    """Return whether a command is one of the project that could be run again as it is."""
    return command.kind == "own" and command.is_lasting and _is_plain(command.words)


def _is_plain(words: Sequence[str]) -> bool:
    return len(words) <= _MOST_WORDS and not any(map(_ODD.search, words))


_MOST_WORDS = 16
_ODD = re.compile(r"[\\^|(){};<>\"]|\s.*\s.*\s|[^\x20-\x7e]")


def _with(command: Command, words: Sequence[str]) -> str:
    before = f"cd {command.place} && " if command.place else ""
    return before + " ".join((*command.env, written(words)))


@lru_cache(maxsize=8_192)
def bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without the arguments of the task at hand."""
    head = len(words) - len(core_of(words))
    core = words[head:]
    if len(core) < 2:
        return words
    program = core[0].rpartition("/")[2]
    is_test = any(map(_TESTING.fullmatch, (program, *core[1:3])))
    kept, is_script = list(words[: head + 1]), program in _INTERPRETERS
    skip = False
    for word in core[1:]:
        if skip:
            skip = False
        elif is_test and word in _CHOOSING:
            skip = word not in _ALONE
        elif is_test and _CHOOSING_HERE.fullmatch(word):
            continue
        elif word.startswith("-") or not (_TEST_FILE.search(word) or _SOURCE.search(word)):
            kept.append(word)
        elif is_script and not _TEST_FILE.search(word):
            is_script = False
            kept.append(word)
        elif kept[-1] in _FILE_OPTIONS:
            kept.append(word)
    while kept[-1] == "--":
        kept.pop()
    return tuple(kept) if len(kept) > 1 or len(words) == 1 else words[: head + 1]


_FILE_OPTIONS = frozenset(
    ("-f", "-c", "--config", "--file", "-o", "--output", "-C", "--out", "-r", "--require", "-p", "--project", "--entry")
)
_ROLES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"(?:[\w.:]*[.:])?(?:tests?|pytest|py\.test|rspec|jest|vitest|mocha|phpunit|pest|ctest|nextest|unittest|tox|nox|xctest)", "Tests are run with"),
        (r"(?:[\w.:]*[.:])?(?:e2e|smoke)(?:[-:_]?tests?)?|test:e2e", "End-to-end tests are run with"),
        (r"(?:[\w.:]*[.:])?(?:lint|eslint|ruff|flake8|pylint|clippy|golangci-lint|rubocop|checkstyle|phpcs|phpstan|shellcheck|stylelint|biome|vet|ktlint)", "The code is linted with"),
        (r"(?:[\w.:]*[.:])?(?:fmt|format|prettier|black|gofmt|gofumpt|spotlessApply|php-cs-fixer|pint|rustfmt)", "The code is formatted with"),
        (r"(?:[\w.:]*[.:])?(?:typecheck|type-check|types|mypy|pyright|tsc|psalm|sorbet)", "Types are checked with"),
        (r"(?:[\w.:]*[.:])?(?:migrate|migrations?|db:migrate|migrate-up)", "Migrations are run with"),
        (r"(?:[\w.:]*[.:])?(?:docs?|javadoc|rustdoc|typedoc|mkdocs|sphinx-build)", "The documentation is built with"),
        (r"(?:[\w.:]*[.:])?(?:bench|benchmarks?|jmh)", "Benchmarks are run with"),
        (r"(?:[\w.:]*[.:])?(?:build|assemble|compile|package|bootJar)", "It is built with"),
        (r"(?:[\w.:]*[.:])?(?:deploy|release|publish)", "It is released with"),
        (r"(?:[\w.:]*[.:])?(?:dev|serve|start|bootRun|runserver|server|up)", "It is started with"),
    )
)  # fmt: skip


_CHECKS = frozenset(words for _, words in _ROLES[:5]) | {_ROLES[8][1]}
"""What fails where the code is not right."""


@lru_cache(maxsize=8_192)
def role_of(words: tuple[str, ...]) -> str:
    """Return the purpose of a command, as the beginning of a sentence; empty: unknown."""
    core = [word.rpartition("/")[2] for word in core_of(words)[:4] if not word.startswith("-")]
    # The second word is a plainer description than the program: `ruff format`.
    for word in (*core[1:], *core[:1]):
        for pattern, said in _ROLES:
            if pattern.fullmatch(word):
                return said
    return ""


def wording(text: str, words: tuple[str, ...]) -> str:
    """Return a fact about a command, as it would be written."""
    role = role_of(words)
    return f"{role} `{text}`" if role else f"`{text}` is run again and again"
