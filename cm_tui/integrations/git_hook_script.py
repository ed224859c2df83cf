"""The text that stands in a git hook: a block of ours, and the wrapper around a hook that is no shell script."""

from __future__ import annotations

import re
import shlex

BEGIN = b"# >>> cm-tui >>> "
END = b"# <<< cm-tui <<<"
_BLOCK = re.compile(rb"^" + re.escape(BEGIN) + rb".*?^" + re.escape(END) + rb"[^\n]*\n", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(
    rb"^#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?(?:sh|bash|dash|ash|ksh|mksh|zsh)(?:[ \t]|$)"
)
_SHEBANG = b"#!/bin/sh\n"
_OURS = b"# cm-tui made this file.\n"

_TEXT = """\
# >>> cm-tui >>> Keeps cm's index fresh. Written by `cm git-hooks install`; `cm git-hooks uninstall` removes it.
# It runs in the background and is quiet: git neither waits for it nor fails with it, also when cm is gone.
( (
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_PREFIX
  for cm in {commands}; do
    command -v "$cm" && exec "$cm" hook git {name} "$@"
  done
) </dev/null >/dev/null 2>&1 & ) || :
# <<< cm-tui <<<
"""
_CHAIN = """\
original="$(dirname "$0")/{original}"
if [ -x "$original" ]; then
  exec "$original" "$@"
fi
"""


def block(name: str, command: str | None) -> bytes:
    """Return our lines for a hook.

    `name`: the hook, such as `post-commit`. `command`: where cm lies now; it is looked for on the PATH when it is no
    longer there.
    """
    commands = shlex.join([*([command] if command else []), "cm"])
    return _TEXT.format(commands=commands, name=name).encode("utf-8", "surrogateescape")


def is_shell(script: bytes) -> bool:
    """True when a POSIX-like shell reads the script, so that lines can be added to it."""
    first, newline, _ = script.partition(b"\n")
    return bool(newline) and _SHELL.match(first) is not None and not first.endswith(b"\r")


def has_block(script: bytes) -> bool:
    """True when our lines stand in it."""
    return _BLOCK.search(script) is not None


def without_block(script: bytes) -> bytes:
    """Return the script as it was before our lines came."""
    return _BLOCK.sub(b"", script)


def with_block(script: bytes, lines: bytes) -> bytes:
    """Return the script with our lines right after its first one: it may end anywhere, and read its input, as before."""
    script = without_block(script)
    first, newline, rest = script.partition(b"\n")
    return first + newline + lines + rest


def alone(lines: bytes) -> bytes:
    """Return a hook that is ours alone."""
    return _SHEBANG + lines + _OURS


def is_alone(script: bytes) -> bool:
    """True when a hook is ours alone, of whatever version."""
    return has_block(script) and without_block(script) == _SHEBANG + _OURS


def wrapper(lines: bytes, original: str) -> bytes:
    """Return a hook that ends as the one does that was moved aside; `original` is its place below the hooks' folder."""
    return _SHEBANG + lines + _OURS + _CHAIN.format(original=original).encode()
