"""A marked block in a TOML file: everything outside it keeps every byte."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cm_tui.errors import RefusedError
from cm_tui.server.agents.parts import SERVER, Part

BEGIN = "# >>> cm-tui: written by `cm agent install`, removed by `cm agent uninstall`"
END = "# <<< cm-tui"


def toml_server(path: Path, command: Sequence[str]) -> Part:
    """An MCP server as a table `[mcp_servers.cm-tui]` in a block of its own at the end of a file."""
    lines = [
        BEGIN,
        f"[mcp_servers.{SERVER}]",
        f"command = {_quoted(command[0])}",
        f"args = [{', '.join(map(_quoted, command[1:]))}]",
        END,
    ]

    def wire(text: str | None) -> str:
        text = text or ""
        newline = "\r\n" if "\r\n" in text else "\n"
        rest = _without_block(text)
        if _server(_parsed(rest)) is not None:
            raise RefusedError(
                f"[mcp_servers.{SERVER}] is there already, outside the lines that cm writes",
                hint=f"Remove it with `codex mcp remove {SERVER}`, and run the command again.",
            )
        if _server(_parsed(text)) == {"command": command[0], "args": list(command[1:])}:
            return text
        gap = "" if not rest else newline if rest.endswith("\n") else newline * 2
        after = rest + gap + newline.join([*lines, ""])
        _parsed(after)
        return after

    def unwire(text: str) -> str | None:
        rest = _without_block(text)
        if rest == text:
            return text
        kept = _parsed(text)
        kept.get("mcp_servers", {}).pop(SERVER, None)
        if not kept.get("mcp_servers", True):
            del kept["mcp_servers"]
        if _parsed(rest) != kept:
            raise RefusedError(
                f"other settings stand between the lines `{BEGIN}` and `{END}`",
                hint="Move them out of the block, and run the command again.",
            )
        return rest if rest.strip() else None

    return Part("mcp", path, wire, unwire)


def _without_block(text: str) -> str:
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    if begin < 0 or end < 0:
        return text
    end += len(END)
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, end):
            end += len(newline)
            break
    # The empty line before the block came with it.
    before = text[:begin]
    for newline in ("\r\n", "\n"):
        if before.endswith(newline):
            before = before.removesuffix(newline)
            break
    return before + text[end:]


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        last = text.split("\n")
        end = f"at line {len(last)}, column {len(last[-1]) + 1}"
        raise RefusedError(f"not TOML: {str(error).replace('at end of document', end)}") from error


def _server(values: dict[str, Any]) -> Any:
    servers = values.get("mcp_servers")
    return servers.get(SERVER) if isinstance(servers, dict) else None


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in escaped) + '"'
