"""A .NET project with a reference to a real assembly, the one that pythonnet brings."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

PROJECT = '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup>{}</ItemGroup></Project>'
REFERENCE = '<Reference Include="Python.Runtime"><HintPath>..\\lib\\Python.Runtime.dll</HintPath></Reference>'


def runtime() -> Path:
    """Path of the assembly `Python.Runtime.dll`."""
    spec = find_spec("pythonnet")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "runtime" / "Python.Runtime.dll"


def add_assembly(root: Path) -> None:
    """Add a project file with a reference to an assembly in the repository, and the assembly."""
    put(root / "App" / "App.csproj", REFERENCE)
    (root / "lib").mkdir()
    shutil.copy(runtime(), root / "lib" / "Python.Runtime.dll")


def put(path: Path, items: str) -> None:
    """Write a project file with these items."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROJECT.format(items))
