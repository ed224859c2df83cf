"""The bundled model of code, made anew: pairs of sources and histories, vocabulary, training, and how good it is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from cm_tui.engine.search.embed.bundled import bundled_folder
from tests.bench.static_model import export
from tests.bench.static_model.collect import collect, read
from tests.bench.static_model.data import data_of, is_held_out
from tests.bench.static_model.evaluate import evaluate
from tests.bench.static_model.kept import TEACHERS, kept_texts
from tests.bench.static_model.onnx_file import read as read_table
from tests.bench.static_model.train import Options, train
from tests.bench.static_model.vocabulary import extended, first_table, tokenizer_at

SEED = 20


def main(argv: Sequence[str]) -> int:
    """Make pairs, train, or check.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    options = _parser().parse_args(list(argv))
    step: str = options.step
    {"pairs": _pairs, "train": _train, "check": _check}[step](options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="just bench model", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    pairs = steps.add_parser("pairs", help="make pairs of folders of sources and of git repositories, one a project")
    pairs.add_argument("folders", type=Path, nargs="+")
    pairs.add_argument("--out", type=Path, required=True, help="file to write: gzipped JSON Lines")
    pairs.add_argument("--files", type=int, default=400, help="files of a project that are read (400)")
    pairs.add_argument("--pairs", type=int, default=3000, help="pairs of a project that are kept (3000)")
    pairs.add_argument("--commits", type=int, default=400, help="newest commits of a repository that are read (400)")
    pairs.add_argument("--jobs", type=int, default=2, help="processes (2)")
    pairs.add_argument("--seed", type=int, default=SEED)
    learn = steps.add_parser("train", help="train a model on pairs, from the bundled one or another")
    learn.add_argument("pairs", type=Path, nargs="+")
    learn.add_argument("--out", type=Path, required=True, help="folder to write")
    learn.add_argument("--start", type=Path, default=bundled_folder(), help="folder of the model to begin with")
    learn.add_argument("--entries", type=int, default=0, help="of the vocabulary, which new words fill (as it is)")
    learn.add_argument(
        "--teacher", choices=TEACHERS, default="itself", help="whose similarities of short texts are kept"
    )
    learn.add_argument("--texts", type=int, default=6000, help="short texts whose similarities are kept (6000)")
    for name, value in asdict(Options()).items():
        learn.add_argument(f"--{name}", type=type(value), default=value, help=f"({value})")
    check = steps.add_parser("check", help="find the answers of pairs of projects that were not learned from")
    check.add_argument("pairs", type=Path, nargs="+")
    check.add_argument("--model", type=Path, action="append", default=[], help="folder; may be given again")
    check.add_argument("--seed", type=int, default=SEED)
    return parser


def _pairs(options: argparse.Namespace) -> None:
    collect(
        options.folders,
        options.out,
        files=options.files,
        pairs=options.pairs,
        commits=options.commits,
        jobs=options.jobs,
        seed=options.seed,
    )


def _train(options: argparse.Namespace) -> None:
    before, table = tokenizer_at(options.start), read_table(options.start / "model.onnx")
    pairs = [pair for pair in read(options.pairs) if not is_held_out(pair)]
    after = extended(before, pairs, options.entries) if options.entries > len(table) else before
    table = first_table(table, before, after)
    print(f"{len(pairs):,} pairs, {len(table):,} entries", file=sys.stderr)
    data = data_of(after, pairs)
    kept = kept_texts(options.teacher, pairs, options.texts, (before, after), table, Random(options.seed))
    del pairs
    numbers = Options(**{name: getattr(options, name) for name in asdict(Options())})
    export.write(options.out, train(table, data, numbers, kept), after)


def _check(options: argparse.Namespace) -> None:
    pairs = [pair for pair in read(options.pairs) if is_held_out(pair)]
    for folder in options.model or [bundled_folder()]:
        found = evaluate(tokenizer_at(folder), read_table(folder / "model.onnx"), pairs, options.seed)
        print(f"{folder.name:24}" + "".join(f"  {kind} {value:.3f}" for kind, value in found.items()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
