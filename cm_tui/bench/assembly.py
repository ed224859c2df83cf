"""`cm bench assembly`: how long it takes to assemble what is handed over, and how that grows with definitions."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cm_tui.bench.measure import percentiles
from cm_tui.engine.local.engine import LocalEngine

_SUBJECTS = ("order", "price", "router", "parser", "session", "cache", "token", "release", "index", "graph")
_VERBS = ("load", "store", "merge", "check", "parse", "render", "route", "count", "open", "close")
_SEARCHES = 4


def main(argv: Sequence[str]) -> int:
    """Print milliseconds of assemblies, warm, with new prompts and with the same one again."""
    options = _options(argv)
    with _project(options.files, options.repository) as root, LocalEngine.open(root) as engine:
        begun = time.perf_counter()
        for _ in engine.index():
            pass
        made = f"{options.files:,} made files" if options.repository is None else options.repository.name
        print(f"{made}: indexed in {time.perf_counter() - begun:.1f} s")
        rows = [_measured(engine, root, many, options) for many in dict.fromkeys((1, 5, options.definitions, 50, 100))]
    if options.json:
        print(json.dumps({"rows": rows}, indent=1))
        return 0
    print(
        f"{'definitions':>12}{'searches':>10}{'cold':>9}{'p50':>9}{'p95':>9}{'again p50':>11}{'again p95':>11}   milliseconds"
    )
    for row in rows:
        print("".join(f"{row[name]:>{width}}" for name, width in (
            ("definitions", 12), ("searches", 10), ("cold", 9), ("p50", 9), ("p95", 9), ("again50", 11), ("again95", 11),
        )))  # fmt: skip
    return 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cm bench assembly", description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path, help="Measure on a copy of this one instead of made files.")
    parser.add_argument("--files", type=int, default=4_000)
    parser.add_argument("--definitions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument(
        "--with-pack", action="store_true", help="With the shipped definition `pack`, which chooses code."
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


@contextmanager
def _project(files: int, repository: Path | None) -> Iterator[Path]:
    """Give a repository in a temporary folder, with a CM_HOME of its own."""
    before = {name: os.environ.get(name) for name in ("CM_HOME", "CM_DAEMON__USE", "CM_HISTORY__ENABLED")}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CM_HOME": f"{folder}/home", "CM_DAEMON__USE": "never", "CM_HISTORY__ENABLED": "false"}
        root = Path(folder) / "project"
        try:
            if repository is None:
                _write_files(root, files)
            else:
                subprocess.run(["git", "clone", "-q", str(repository.resolve()), str(root)], check=True)
            yield root
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
            shutil.rmtree(root, ignore_errors=True)


def _write_files(root: Path, files: int) -> None:
    for number in range(files):
        subject, verb = _SUBJECTS[number % 10], _VERBS[number // 10 % 10]
        file = root / "src" / f"part{number // 200}" / f"{subject}_{verb}_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'"""The {subject}, part {number}."""\n\n\ndef {verb}_{subject}_{number}(value, limit={number}):\n'
            f'    """{verb.capitalize()} the {subject} as case {number} wants it."""\n'
            f"    return [{subject} for {subject} in value if {subject} < limit]\n\n\n"
            f"class {subject.capitalize()}{number}:\n    def {verb}(self, name):\n"
            f"        return {verb}_{subject}_{number}(name)\n"
        )
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)


def _define(root: Path, many: int, *, with_pack: bool) -> int:
    """Write so many definitions, four of which search, two of them for the same; returns how many search."""
    folder = root / ".cm" / "retrieval"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    values = {f"key{number}": {"name": f"value {number}"} for number in range(many)}
    memory = root / ".cm" / "memory"
    memory.mkdir(exist_ok=True)
    (memory / "kv.json").write_text(json.dumps(values))
    searches = min(_SEARCHES, many)
    for number in range(many):
        if number < searches:
            query = "" if number < 2 else f", query: '{{{{task.text}}}} {_SUBJECTS[number]}'"
            steps = f"[{{type: vector_search, index: code, topK: 8, minScore: 0{query}}}, {{type: format, template: '{{{{path}}}} {{{{symbol}}}}'}}]"
        elif number % 3 == 0:
            steps = "[{type: graph_view_read, view: symbols, params: {path: src/part0/order_load_0.py}}, {type: rank}]"
        elif number % 3 == 1:
            steps = (
                f"[{{type: kv_get, keys: [key{number}]}}, {{type: format, template: 'It is {{{{key{number}.name}}}}'}}]"
            )
        else:
            steps = "[{type: log_search, eventType: 'hook.*', limit: 5}]"
        (folder / f"d{number:03}.yaml").write_text(f"name: d{number}\nmaxContribution: 200\nsteps: {steps}\n")
    if not with_pack:
        (folder / "pack.yaml").write_text("name: pack\nenabled: false\nsteps: [{type: code_pack}]\n")
    return searches


def _measured(engine: LocalEngine, root: Path, many: int, options: argparse.Namespace) -> dict[str, float]:
    searches = _define(root, many, with_pack=options.with_pack)
    cold = _took(engine, "the first prompt of all about a router")
    for number in range(5):
        _took(engine, f"warm up {number} the parser")
    new = [
        _took(engine, f"{_VERBS[number % 10]} the {_SUBJECTS[number // 10 % 10]} of case {number}")
        for number in range(options.rounds)
    ]
    again = [_took(engine, "how is the cache closed") for _ in range(options.rounds)][1:]
    p50, p95 = percentiles(new)
    again50, again95 = percentiles(again)
    figures = {"cold": cold, "p50": p50, "p95": p95, "again50": again50, "again95": again95}
    return {"definitions": many, "searches": searches, **{name: round(value, 1) for name, value in figures.items()}}


def _took(engine: LocalEngine, prompt: str) -> float:
    begun = time.perf_counter()
    engine.assemble(prompt, keep=False)
    return (time.perf_counter() - begun) * 1_000
