"""What is remembered beside the code of later: names written down at old commits of real projects, checked at HEAD.

The truth is what git and plain patterns say of HEAD's tree (`stale_truth.py`); every disagreement is listed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.bench.stale_truth import GitTruth
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.engine.search import passages
from cm_tui.engine.search.source import Changes, SourcePassage
from cm_tui.engine.store.database import Database
from cm_tui.model import Mention

COMMITS = 20
_SYMBOLS, _PATHS, _FOLDERS, _SETTINGS = 24, 14, 2, 4
_LINES = 4
"""Lines that a definition has at least for an equal one under another name to be the same: short ones are alike by chance."""
_RARE = 6
"""Names beyond those that were renamed or moved: by chance there are few."""
_SENTENCES = (
    "`{}` is where to begin when this breaks.", "Mind {}: it is called twice.", "- {} holds the lock while it writes",
    "We moved the check out of `{}`, it was too slow there.", "See {} for the details.", "TODO: {} swallows errors",
)  # fmt: skip
_FOREIGN = (
    "`numpy.ndarray`", "`pandas.DataFrame.groupby`", "SQLAlchemy", "`EventEmitter.once`", "`kubectl apply`", "`json_decode()`",
    "`std::unordered_map`", "`tokio::select!`", "`wontfix`", "`important`", "`please`", "`and/or`", "`TensorFlowLite`",
    "`node_modules/left-pad/index.js`", "`/etc/hosts`", "`JAVA_TOOL_OPTIONS`", "`AWS_SESSION_TOKEN`", "`make coffee`",
    "`npm run frobnicate`", "`spring.datasource.url`", "`QWidget::paintEvent`", "`tomorrow`", "`e.g.`", "`3.14.2`",
)  # fmt: skip
"""Names of other projects, and words; those that a project has after all are left out there."""


class Written(NamedTuple):
    """A name that is written down at a commit, and what is true of it at HEAD."""

    commit: int
    """Number among the commits that are tried."""
    kind: str
    name: str
    truth: str
    """`here`, `moved`, `renamed`, `gone` or `foreign`."""
    became: str = ""


def main(argv: Sequence[str]) -> int:
    """Run the measurement and print a table with every miss, or JSON.

    Args:
        argv: see `--help`.
    """
    parser = argparse.ArgumentParser(prog="cm bench stale", description=__doc__)
    parser.add_argument(
        "repositories", nargs="+", type=Path, help="Git repositories; they are cloned, and not written to."
    )
    parser.add_argument("--commits", type=int, default=COMMITS, help="Old commits at which names are written down.")
    parser.add_argument("--seed", type=int, default=1, help="Of what is sampled.")
    parser.add_argument("--depth", type=int, help="Commits of the mainline that are read; all when not given.")
    parser.add_argument("--without", action="append", default=[], help="Files that git's renames leave out: a pattern.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--home", type=Path, help="Keep the indexes below this folder, for another run.")
    options = parser.parse_args(list(argv))
    before = dict(os.environ)
    found = {}
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        home = options.home or Path(scratch) / "home"
        os.environ.update(
            CM_HOME=str(home), CM_DAEMON__USE="never", CM_EMBEDDING__PROVIDER="none", CM_HISTORY__ENABLED="false",
            GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull,
        )  # fmt: skip
        try:
            for repository in options.repositories:
                root = home / "checkouts" / repository.resolve().name
                if not root.exists():
                    subprocess.run(["git", "clone", "-q", str(repository.resolve()), str(root)], check=True)
                found[root.name] = _Bench(root, options).run()
        finally:
            os.environ.clear()
            os.environ.update(before)
        shutil.rmtree(Path(scratch), ignore_errors=True)
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, rows in found.items():
        print(f"\n| {name} | |\n|---|---|")
        for row, value in rows.items():
            for line in value if isinstance(value, list) else [value]:
                print(f"| {row} | {line} |")
    return 0


class _Notes:
    """A source of the texts that are tried, in the place of files."""

    name = "note"

    def __init__(self, texts: Sequence[tuple[str, int]]) -> None:
        self._texts = texts

    def has_changed(self, _db: Database) -> bool:
        """Return True: it is asked once."""
        return True

    def changes(self, db: Database, *, anew: bool) -> Changes:  # noqa: ARG002 - as sources have it
        """Return one passage for each text, in the place of all that there were."""
        gone = [row[0] for row in db.rows("SELECT id FROM passage WHERE source = ?", [self.name])]
        made = (
            SourcePassage(f"note/{number}", 1, text.count("\n") + 1, f"note {number}", text, time=when)
            for number, (text, when) in enumerate(self._texts)
        )
        return Changes(gone, made)


class _Bench:
    """The measurement on one repository."""

    def __init__(self, root: Path, options: argparse.Namespace) -> None:
        self._root = root
        self._options = options
        self._random = random.Random(options.seed)
        self._truth = GitTruth(root, options.without)

    def run(self) -> dict[str, object]:
        """Measure, and return rows of a table."""
        rows: dict[str, object] = {}
        with LocalEngine.open(self._root) as engine:
            started = time.perf_counter()
            list(engine.index())
            list(engine.backfill(depth=self._options.depth or 10_000_000))
            rows["index and history, s"] = round(time.perf_counter() - started, 1)
            written, texts = self._written()
            db = engine._db  # noqa: SLF001 - a measurement of what stands behind the interface
            with db.generations.changing(), db.transaction():
                passages.sync(db, [_Notes(texts)])
            started = time.perf_counter()
            engine._mentions.sync()  # noqa: SLF001 - likewise
            rows["all names checked, s"] = round(time.perf_counter() - started, 2)
            told = {number: engine.mentions_of(f"note/{number}").mentions for number in range(len(texts))}
        rows |= {"commits of the mainline": len(self._truth.commits), "names written down": len(written)}
        return rows | _judged(written, told, self._truth)

    def _written(self) -> tuple[list[Written], list[tuple[str, int]]]:
        commits = self._truth.commits
        count = self._options.commits
        head = self._truth.names("HEAD")
        found: list[Written] = []
        texts: list[tuple[str, int]] = []
        foreign = [
            name
            for name in _FOREIGN
            if not self._truth.says("HEAD", name.strip("`").split(".")[-1].split("::")[-1].strip("()!"))
        ]
        for number in range(count):
            sha = commits[(2 * number + 1) * len(commits) // (2 * count + 1)]
            own = [*self._symbols(number, sha, head), *self._files(number, sha), *self._settings(number, sha)]
            own += [
                Written(number, "foreign", name, "foreign")
                for name in foreign
                if not self._truth.says(sha, name.strip("`"))
            ]
            self._random.shuffle(own)
            lines = [self._random.choice(_SENTENCES).format(_written_as(one)).replace("``", "`") for one in own]
            found += own
            texts.append(("\n".join(lines), self._truth.time(sha)))
        return found, texts

    def _symbols(self, number: int, sha: str, head: Counter[str]) -> Iterator[Written]:
        names = self._truth.names(sha)
        bodies = {one.text: one.name for one in self._truth.definitions("HEAD") if one.text.count("\n") > _LINES}
        once = sorted(
            name for name, count in names.items() if count == 1 and len(name) > 3 and not name.startswith("__")
        )
        texts = {one.name: one.text for one in self._truth.definitions(sha)}
        chosen = self._random.sample(once, min(_SYMBOLS, len(once)))
        lost = [name for name in once if not head[name] and texts[name] in bodies and name not in chosen]
        for name in [*chosen, *self._random.sample(lost, min(_RARE, len(lost)))]:
            heir = bodies.get(texts[name], "")
            truth = "here" if head[name] else "renamed" if heir else "gone"
            yield Written(number, "symbol", name, truth, heir if truth == "renamed" else "")

    def _settings(self, number: int, sha: str) -> Iterator[Written]:
        words = self._truth.words(sha)
        for word in self._random.sample(words, min(_SETTINGS, len(words))):
            yield Written(number, "setting", word, "here" if self._truth.stands("HEAD", word) else "gone")

    def _files(self, number: int, sha: str) -> Iterator[Written]:
        paths, now = sorted(self._truth.paths(sha)), self._truth.paths("HEAD")
        plain = [path for path in paths if path.isascii() and " " not in path and "/" in path]
        folders = sorted({path.rpartition("/")[0] for path in plain if path.count("/") > 1})
        chosen = self._random.sample(plain, min(_PATHS, len(plain)))
        lost = [path for path in plain if path not in now and path not in chosen and self._truth.heir(path, sha)]
        for path in [*chosen, *self._random.sample(lost, min(_RARE, len(lost)))]:
            heir = path if path in now else self._truth.heir(path, sha)
            truth = "here" if path in now else "moved" if heir else "gone"
            yield Written(number, "path", path, truth, heir if truth == "moved" else "")
        for folder in self._random.sample(folders, min(_FOLDERS, len(folders))):
            is_there = any(path.startswith(f"{folder}/") for path in now)
            yield Written(number, "folder", f"{folder}/", "here" if is_there else "gone")


def _written_as(one: Written) -> str:
    if one.kind == "foreign":
        return one.name
    return f"`{one.name}()`" if one.kind == "symbol" else f"`{one.name}`"


def _judged(written: Sequence[Written], told: dict[int, tuple[Mention, ...]], truth: GitTruth) -> dict[str, object]:
    """Precision and recall by what is true, and every miss."""
    counts: Counter[str] = Counter()
    misses: list[str] = []
    for one in written:
        text = one.name.strip("`")
        said = next(
            (
                mention
                for mention in told[one.commit]
                if mention.text in (text, text.rstrip("/"), text.removesuffix("()"))
            ),
            None,
        )
        state = "not linked" if said is None or said.state == "unknown" else _simple(one, said)
        is_right = state in _RIGHT[one.truth]
        if one.kind == "symbol" and state == "renamed" and said is not None and said.commit is not None:
            # What the patterns do not find at HEAD may have been changed after it was renamed: that commit tells.
            is_right = said.became == one.became or truth.confirms_rename(one.name, said.became, said.commit.sha)
            state = state if is_right else "renamed wrongly"
        counts[f"{one.truth}, {state}"] += 1
        if not is_right:
            misses.append(
                f"#{one.commit} {one.kind} {one.name}: {one.truth} {one.became} → {state} {said.became if said else ''}".strip()
            )
    rows: dict[str, object] = {f"count: {name}": number for name, number in sorted(counts.items())}
    for kind in ("gone", "moved", "renamed"):
        true = {name: number for name, number in counts.items() if name.startswith(f"{kind}, ")}
        right = sum(number for name, number in true.items() if name.partition(", ")[2] in _RIGHT[kind])
        rows[f"{kind}: recall"] = _share(right, sum(true.values()))
        told_so = {name: number for name, number in counts.items() if name.partition(", ")[2] in _SAID[kind]}
        right = sum(
            number for name, number in told_so.items() if name.partition(", ")[2] in _RIGHT[name.partition(", ")[0]]
        )
        rows[f"{kind}: precision"] = _share(right, sum(told_so.values()))
    rows["miss"] = misses
    return rows


_RIGHT = {
    "here": {"here"}, "gone": {"gone", "renamed", "moved"}, "moved": {"moved"}, "renamed": {"renamed"}, "foreign": {"not linked"},
}  # fmt: skip
"""What is right to say of what is true. What git and the patterns call gone may have been found elsewhere by its body."""


_SAID = {"gone": {"gone"}, "moved": {"moved"}, "renamed": {"renamed", "renamed wrongly"}}


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} of {whole:,}" if whole else "none"


def _simple(one: Written, said: Mention) -> str:
    """A state in the words of the truth: a symbol that stands in another file is still here by its name."""
    if said.state in ("alive", "changed") or (one.kind != "path" and said.kind == "symbol" and said.state == "moved"):
        return "here"
    return said.state
