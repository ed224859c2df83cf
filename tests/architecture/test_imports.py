"""Packages of the engine take no names from their own modules.

Two threads of which one imports a package that does so and the other a module within it wait for each other, which Python
tells as a deadlock; the engine's modules are imported when they are first needed, in whatever thread that is.
"""

from __future__ import annotations

import ast
from pathlib import Path

import cm_tui.engine


def test_packages_of_the_engine_take_nothing_from_their_own_modules():
    engine = Path(cm_tui.engine.__path__[0])
    found = {}
    for file in engine.rglob("__init__.py"):
        package = ".".join(("cm_tui", "engine", *file.parent.relative_to(engine).parts))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        taken = [one.module for one in tree.body if isinstance(one, ast.ImportFrom) and one.module]
        if own := [name for name in taken if f"{name}.".startswith(f"{package}.")]:
            found[package] = own
    assert found == {}
