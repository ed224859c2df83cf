"""`cm` run inside the test's own process: the same words, streams, settings and exit code, without a start of Python.

Half a second of every `cm` goes into starting Python and importing. What is tested of the process itself, such as
signals, encodings or a broken pipe, runs as one. The commands are made of their functions once, too, as in a process:
that takes 50 ms, and nothing of a run stays in them.

`python -m tests.cli.in_process COMMANDS` runs several one after another in one process, for tests that need one with
other rights or without a network: a JSON list of lists of words goes in, a line with code, stdout and stderr comes out
for each.
"""

from __future__ import annotations

import contextvars
import functools
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import typer
from typer import main as typer_main

from cm_tui.agent_hooks.command import main as hook
from cm_tui.cli import app, families
from cm_tui.files import private_umask

_command = functools.cache(typer_main.get_command)
_new_command_line = app.command_line
_apps: dict[tuple[str, ...], typer.Typer] = {}
PROCESSES = frozenset({"serve", "mcp"})
"""Commands that are processes by nature: they take over the streams, or listen for signals."""


def needs_process(words: tuple[str, ...]) -> bool:
    """Whether only a process of its own can tell what these words do."""
    return bool(PROCESSES & set(words[:1]))


def run_here(
    words: tuple[str, ...], *, cwd: Path, environment: Mapping[str, str], stdin: str | bytes
) -> tuple[int, str, str]:
    """Run `cm` as a process would.

    Args:
        words: what comes after `cm`.
        cwd: the folder that it runs in.
        environment: settings beside those of the test.
        stdin: what it can read.

    Returns:
        The exit code, stdout and stderr.
    """
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    out, err = _stream(sys.__stdout__, encoding), _stream(sys.__stderr__, encoding)
    # Hooks do without the command line, whose imports take longer than all of their work.
    is_hook = words[:1] == ("hook",) and words[1:2] not in (("-h",), ("--help",))
    with (
        mock.patch.dict(os.environ, environment),
        _piped(stdin) as piped,
        _streams(piped, out, err),
        _folder(cwd),
        _made_once(),
        private_umask(),
    ):
        code = contextvars.copy_context().run(*(hook, words[1:]) if is_hook else (app.run, list(words)))
    return code, _written(out), _written(err)


@contextmanager
def _piped(data: str | bytes) -> Iterator[io.TextIOWrapper]:
    """What a process can read, through a descriptor as from a pipe."""
    with tempfile.TemporaryFile() as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.seek(0)
        with io.TextIOWrapper(file, encoding="utf-8", errors=_errors(sys.__stdin__)) as stream:
            yield stream


def _errors(like: io.TextIOWrapper | None) -> str:
    return (like.errors if like else None) or "strict"


def _stream(like: io.TextIOWrapper | None, encoding: str) -> io.TextIOWrapper:
    """A stream that treats what cannot be encoded as that of a process does."""
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=_errors(like), write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.detach()
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


@contextmanager
def _made_once() -> Iterator[None]:
    with mock.patch.object(typer_main, "get_command", _command), mock.patch.object(app, "command_line", _command_line):
        yield


def _command_line(words: Sequence[str]) -> typer.Typer:
    """The app with the families that these words ask for: the same one each time."""
    asked_for = tuple(families._command_words(words))
    if asked_for not in _apps:
        _apps[asked_for] = _new_command_line(words)
    return _apps[asked_for]


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


if __name__ == "__main__":
    for each in json.loads(sys.argv[1]):
        sys.stdout.write(json.dumps(run_here(tuple(each), cwd=Path(), environment={}, stdin="")) + "\n")
