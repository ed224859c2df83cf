"""Files of definitions that we write into a project: commented ones for the user to change, and JSON Schemas."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cm_tui.engine.context.definitions.definition_files import FOLDERS
from cm_tui.engine.context.definitions.shapes import (
    NAME,
    Pipeline,
    RetrievalDefinition,
    Rule,
    RuleFile,
    SingleRule,
    spellings,
)
from cm_tui.errors import RefusedError, UsageError
from cm_tui.files import read_regular, users_umask, write_atomically
from cm_tui.model import DefinitionKind
from cm_tui.paths import PROJECT_FOLDER
from cm_tui.state_file import confined


def write_new(root: Path, kind: DefinitionKind, name: str) -> str:
    """Write a definition of a kind; return its path, relative to the root.

    Raises:
        UsageError: the name or kind is invalid.
        RefusedError: the file exists, or the folder leads out of the project.
        StoreError: it cannot be written.
    """
    if kind not in FOLDERS:
        raise UsageError(f"Unknown kind: {str(kind)[:40]!r}.", hint=f"Use {', '.join(FOLDERS)}.")
    if not re.match(NAME, name):
        raise UsageError(f"Not a name: {name[:60]!r}.", hint="Use letters, digits, - and _, at most 64.")
    path = f"{PROJECT_FOLDER}/{FOLDERS[kind]}/{name}.yaml"
    file = root / path
    text = files("cm_tui.engine.context.definitions").joinpath("templates", f"{kind}.yaml").read_text("utf-8")
    with confined(root, file):
        taken = next((one for ending in (".yaml", ".yml", ".json") if (one := file.with_suffix(ending)).exists()), None)
        if taken is not None:
            raise RefusedError(f"{taken.relative_to(root)} already exists.", hint="Edit it or use another name.")
        _create(file, text.replace("NAME", name))
    return path


def _create(file: Path, text: str) -> None:
    """Write a file that must not be there yet, also not since a moment ago."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    umask = users_umask()
    if umask >= 0:
        file.chmod(0o666 & ~umask)


# --- jSON Schemas of the definitions, copied to the project for offline completion and checks in editors ---

_MOST_BYTES = 1_000_000


@cache
def schema(kind: DefinitionKind) -> str:
    """Return the JSON Schema of a kind of definitions, as text."""
    shape: Any = {
        "retrieval": RetrievalDefinition,
        "rule": RuleFile | SingleRule | tuple[Rule, ...],
        "ingestion": Pipeline,
    }[kind]
    made = TypeAdapter(shape).json_schema(by_alias=True)
    for part in (made, *made.get("$defs", {}).values()):
        _take_other_spellings(part)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"cm-tui: {FOLDERS[kind]}"}
    return json.dumps({**head, **{name: value for name, value in made.items() if name != "title"}}, indent=2) + "\n"


def _take_other_spellings(part: dict[str, Any]) -> None:
    """Extend a schema to all forms that the reader accepts; as patterns, so that editors complete only the main one."""
    properties: dict[str, Any] = part.get("properties", {})
    others = {name: other for name in properties if (other := spellings(name)[0]) != name}
    if others:
        part["patternProperties"] = {f"^{other}$": properties[name] for name, other in others.items()}
    for name in set(part.get("required", ())) & set(others):
        part["required"].remove(name)
        part.setdefault("allOf", []).append({"anyOf": [{"required": [name]}, {"required": [others[name]]}]})
    operator = properties.get("op", {})
    if "enum" in operator:
        spelt = [one for op in operator["enum"] for one in spellings(op)]
        known = {key: operator.pop(key) for key in ("enum", "type") if key in operator}
        operator["anyOf"] = [known, {"pattern": f"^(?:{'|'.join(dict.fromkeys(spelt))})$", "type": "string"}]


def copy_schemas_to(root: Path) -> None:
    """Write the schemas into a project with definitions, if they are of another version.

    Raises:
        RefusedError: their folder leads out of the project; StoreError: one cannot be written.
    """
    for kind, folder in FOLDERS.items():
        if not (root / PROJECT_FOLDER / folder).is_dir():
            continue
        file, text = root / PROJECT_FOLDER / "schemas" / f"{kind}.schema.json", schema(kind)
        if read_regular(file, _MOST_BYTES) == text.encode():
            continue
        with confined(root, file):
            write_atomically(file, text, permissions=None)
