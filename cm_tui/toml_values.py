"""Values of a TOML text that may be anyone's: bounded in size and depth, with one error for all that is wrong."""

from __future__ import annotations

from typing import Any

SETTINGS_BYTES = 1_000_000
"""No file of settings is anywhere near as long."""
_DOTS = 100
"""Dots in a line behind which a key may hide whose parts take time by their square: 500,000 of them, hours."""

# Hooks of agents import this module: nothing here may take long to import.


def toml_values(content: bytes) -> dict[str, Any]:
    """Return what a TOML text says.

    Raises:
        ValueError: it is not TOML or not UTF-8, is too long, nested too deeply, or holds a number too long to be read.
    """
    if len(content) > SETTINGS_BYTES:
        raise ValueError(f"more than {SETTINGS_BYTES:,} bytes")
    refuse_long_keys(content)
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply to be read") from error


def refuse_long_keys(content: bytes) -> None:
    """Refuse a text that may hold a key of so many parts that reading it does not end in time.

    Raises ValueError if a line has more dots than any key needs; the message names it.
    """
    for number, line in enumerate(content.splitlines(), 1):
        if line.count(b".") > _DOTS and not line.lstrip().startswith(b"#"):
            raise ValueError(f"line {number}: more than {_DOTS} dots")
