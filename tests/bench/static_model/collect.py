"""Collecting pairs of many projects into one file of JSON Lines."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

from cm_tui.errors import NotFoundError
from tests.bench.static_model.cleaning import Seen
from tests.bench.static_model.history import from_history
from tests.bench.static_model.pairs import Pair, pairs_of
from tests.bench.static_model.sources import files_of, name_of, opened


def collect(folders: Sequence[Path], out: Path, *, files: int, pairs: int, commits: int, jobs: int, seed: int) -> None:
    """Write the pairs of projects, without repetitions, projects in the order given.

    Args:
        folders: one a project: git repositories, or folders of sources.
        out: file to write, gzipped JSON Lines.
        files: of a project that are read.
        pairs: of a project that are kept.
        commits: of a project that are read.
        jobs: processes.
        seed: of what is chosen.

    Raises:
        NotFoundError: a folder is not there.
    """
    for folder in folders:
        if not folder.is_dir():
            raise NotFoundError(
                f"There is no folder {folder}.", hint="Name folders of unpacked sources or repositories."
            )
    one = partial(_project, files=files, pairs=pairs, commits=commits, seed=seed)
    seen, counts = Seen(), Counter[str]()
    with gzip.open(out, "wt", compresslevel=1, encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        for folder, found in zip(folders, pool.map(one, folders), strict=True):
            new = [pair for pair in found if seen.is_new(pair.kind, pair.question, pair.text)]
            counts.update(pair.language for pair in new)
            file.writelines(json.dumps(pair) + "\n" for pair in new)
            print(f"{name_of(folder)}: {len(new)} pairs", file=sys.stderr)
    for language, count in counts.most_common():
        print(f"{language:16}{count:9,}")
    print(f"{'all':16}{counts.total():9,}")


def _project(folder: Path, *, files: int, pairs: int, commits: int, seed: int) -> list[Pair]:
    """Return pairs of one project, in the order of its files, so that neighbours stay neighbours."""
    name = name_of(folder)
    random = Random(seed + zlib.crc32(name.encode()))
    found = [pair for file in files_of(folder, random, files) for pair in pairs_of(name, file, random)]
    if len(found) > pairs:
        found = [found[at] for at in sorted(random.sample(range(len(found)), pairs))]
    repository = opened(folder)
    if repository is not None and not repository.head_is_unborn:
        found += from_history(name, repository, commits)
    return found


def read(files: Sequence[Path]) -> Iterator[Pair]:
    """Read pairs back.

    Raises:
        NotFoundError: a file is not there or holds something else.
    """
    for path in files:
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                for line in file:
                    yield Pair(*json.loads(line))
        except (OSError, EOFError, ValueError, TypeError) as error:
            raise NotFoundError(
                f"{path} holds no pairs: {error}", hint="Make it with `just bench model pairs`."
            ) from error
