"""A marked block in a TOML file: everything outside it keeps every byte."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cm_tui.errors import RefusedError
from cm_tui.integrations.agents.agent_files import SERVER, InstallTarget, Part, split
from cm_tui.integrations.agents.project_entry import preserved_keys, widenings
from cm_tui.toml_values import refuse_long_keys

BEGIN = "# >>> cm-tui: written by `cm agent install`, removed by `cm agent uninstall`"
END = "# <<< cm-tui"


def toml_server(path: Path, target: InstallTarget) -> Part:
    """An MCP server as a table `[mcp_servers.cm-tui]` in a block of its own at the end of a file.

    `target`: which command, with which tools; what a person added to the table stays, in a project what `kept_of`
    allows.
    """

    def wire(text: str | None) -> str:
        text = _guarded(text or "", target)
        newline = "\r\n" if "\r\n" in text else "\n"
        rest = _without_block(text)
        if _server(_parsed(rest)) is not None:
            raise RefusedError(
                f"[mcp_servers.{SERVER}] already exists outside the lines written by cm",
                hint=f"Remove it with `codex mcp remove {SERVER}`, and run the command again.",
            )
        old = _server(_parsed(text))
        wanted = split(target.server(old))
        if widened(text):
            # Replace the table: its lines cannot be attributed to keys without a parser.
            wanted = preserved_keys(old) | wanted
            rest, old = _text_outside_block(text), None
        if isinstance(old, dict) and {**old, **wanted} == old:
            return text
        written = {key: f"{key} = {_value(value)}" for key, value in wanted.items()}
        if isinstance(old, dict):
            return _changed(text, written, {**old, **wanted})
        gap = "" if not rest else newline if rest.endswith("\n") else newline * 2
        after = rest + gap + newline.join([BEGIN, f"[mcp_servers.{SERVER}]", *written.values(), END, ""])
        _parsed(after)
        return after

    def unwire(text: str) -> str | None:
        rest = _text_outside_block(_guarded(text, target))
        return rest if rest == text or rest.strip() else None

    def widened(text: str) -> tuple[str, ...]:
        return (
            widenings(_server(_parsed(_guarded(text, target))), target.known_tools) if target.scope == "project" else ()
        )

    return Part("mcp", path, wire, unwire, widened)


def _guarded(text: str, target: InstallTarget) -> str:
    """The text, unless a repository's could not be read in time.

    Raises RefusedError if a key of it is too long.
    """
    # The user's own file may hold long texts, and is trusted.
    if target.scope == "project":
        try:
            refuse_long_keys(text.encode())
        except ValueError as error:
            raise RefusedError(str(error)) from error
    return text


def _text_outside_block(text: str) -> str:
    """The text without our block. Raises RefusedError if something else would go with it."""
    rest = _without_block(text)
    if rest == text:
        return text
    kept, left = _parsed(text), _parsed(rest)
    kept.get("mcp_servers", {}).pop(SERVER, None)
    for values in (kept, left):
        # The table of servers appears with the first one; the user may also have written it empty.
        if not values.get("mcp_servers", True):
            del values["mcp_servers"]
    if left != kept:
        raise RefusedError(
            f"other settings are between the lines `{BEGIN}` and `{END}`",
            hint="Move them out of the block, and run the command again.",
        )
    return rest


def _changed(text: str, written: dict[str, str], wanted: Any) -> str:
    """The text with other lines for some keys of our table; every other line of it stays."""
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    block = text[begin:end]
    for key, line in written.items():
        found = re.search(rf"^{key}[ \t]*=[^\r\n]*", block, re.MULTILINE)
        if found:
            block = block[: found.start()] + line + block[found.end() :]
    after = text[:begin] + block + text[end:]
    refused = RefusedError(
        f"[mcp_servers.{SERVER}] is written in a way that cannot be changed line by line",
        hint=f"Write `{'` and `'.join(written.values())}` there yourself.",
    )
    try:
        if _server(_parsed(after)) == wanted:
            return after
    except RefusedError as error:
        raise refused from error
    raise refused


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
    except RecursionError as error:
        raise RefusedError("not TOML: nested too deeply to be read") from error
    except ValueError as error:
        # Also a number that is too long to be one.
        last = text.split("\n")
        end = f"at line {len(last)}, column {len(last[-1]) + 1}"
        raise RefusedError(f"not TOML: {str(error).replace('at end of document', end)}") from error


def _server(values: dict[str, Any]) -> Any:
    servers = values.get("mcp_servers")
    return servers.get(SERVER) if isinstance(servers, dict) else None


def _value(value: str | float | list[str]) -> str:
    """A TOML value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in escaped) + '"'
