"""Exclusions from a turn's memory: agents' own settings files, and the content of credential files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from cm_tui.engine.code.scan.credential_files import is_credential_file

_SETTINGS = re.compile(
    r"(?:^|/)(?:\.mcp\.json|\.claude\.json|\.claude/settings(?:\.[\w-]+)?\.json|opencode\.jsonc?|\.opencode/(?:opencode\.jsonc?|plugins?/[^/]+)|"
    r"\.cursor/(?:mcp|hooks|settings|cli|environment)\.json|\.cursor/hooks/[^/]+|\.codex/(?:config\.toml|hooks\.json|auth\.json))$"
)
_SECTION = re.compile(r"^diff --(?:git|cc|combined) ", re.MULTILINE)
_NAMES = re.compile(
    r"^(?:diff --git .* \"?b/|diff --(?:cc|combined) |rename from |rename to |copy from |copy to |--- \"?a/|\+\+\+ \"?b/)(.+?)\"?\t?$",
    re.MULTILINE,
)


def is_agent_settings(path: str) -> bool:
    """Return whether a path is a coding agent's own settings file, which is not a turn's work.

    `path`: below the project's root, with `/`.
    """
    return _SETTINGS.search(path) is not None


def without_credentials(patch: str) -> str:
    """Return a patch in which a line replaces the changes of credential files. `patch`: from git."""
    return without_files(patch, _is_for_credentials)


def without_files(patch: str, why: Callable[[str], str]) -> str:
    """Return a patch in which a line replaces the changes of some files.

    `patch`: as git writes it. `why`: returns why a path is excluded; empty: it is included.
    """
    return "".join(_section(piece, why) for piece in _sections(patch))


def _is_for_credentials(path: str) -> str:
    return "is a file for credentials" if is_credential_file(path) else ""


def _sections(patch: str) -> Iterator[str]:
    starts = [found.start() for found in _SECTION.finditer(patch)]
    if not starts or starts[0]:
        yield patch[: starts[0] if starts else len(patch)]
    for start, end in pairwise([*starts, len(patch)]):
        yield patch[start:end]


def _section(section: str, why: Callable[[str], str]) -> str:
    head = section.partition("\n@@")[0]
    told = next((f"{name} {reason}" for name in _NAMES.findall(head) if (reason := why(name))), "")
    return f"{section.partition(chr(10))[0]}\n[omitted: {told}]\n" if told else section
