"""`cm` run inside the test's own process: the same words, streams, settings and exit code, without a start of Python.

Half a second of every `cm` goes into starting Python and importing. What is tested of the process itself, such as
signals, encodings or a broken pipe, runs as one. The commands are made of their functions once, too, as in a process:
that takes 50 ms, and nothing of a run stays in them.
"""

from __future__ import annotations

import contextvars
import functools
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from typer import main as typer_main

from cm_tui.cli.app import run

_command = functools.cache(typer_main.get_command)
PROCESSES = frozenset({"hook", "serve", "mcp"})
"""Commands that are processes by nature: they take over the streams, listen for signals, or end without unwinding."""


def needs_process(words: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    """Whether only a process of its own can tell what these words do under these settings."""
    return bool(PROCESSES & set(words[:1])) or any(name.startswith("PYTHON") for name in environment)


def run_here(words: tuple[str, ...], *, cwd: Path, environment: Mapping[str, str], stdin: str) -> tuple[int, str, str]:
    """Run `cm` as a process would.

    Args:
        words: what comes after `cm`.
        cwd: the folder that it runs in.
        environment: settings beside those of the test.
        stdin: what it can read.

    Returns:
        The exit code, stdout and stderr.
    """
    out, err = _stream(sys.__stdout__), _stream(sys.__stderr__)
    with (
        mock.patch.dict(os.environ, environment),
        _streams(_stream(sys.__stdin__, stdin), out, err),
        _folder(cwd),
        _made_once(),
    ):
        code = contextvars.copy_context().run(run, list(words))
    return code, _written(out), _written(err)


def _stream(like: io.TextIOWrapper | None, text: str = "") -> io.TextIOWrapper:
    """A stream that treats what cannot be encoded as that of a process does."""
    errors = (like.errors if like else None) or "strict"
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", errors=errors, write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.detach()
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


@contextmanager
def _made_once() -> Iterator[None]:
    with mock.patch.object(typer_main, "get_command", _command):
        yield


@contextmanager
def _streams(stdin: io.TextIOWrapper, out: io.TextIOWrapper, err: io.TextIOWrapper) -> Iterator[None]:
    with mock.patch.multiple(sys, stdin=stdin, stdout=out, stderr=err):
        yield


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
