"""Files of the .NET assemblies that a project references: packages, files in the repository, the framework."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from cm_tui.files import read_below

PROJECT_FILE = r"(?i)\.(cs|fs|vb)proj$|(^|/)(directory\.(packages|build)\.props|packages\.config)$"
"""Regular expression of the paths of files that name references."""
_PROJECT_BYTES, _RESTORED_BYTES = 1_000_000, 64_000_000
_MANY_FILES = 4000
_LONGEST_NAME = 100
"""Characters of the name or version of a package, as NuGet limits them."""
_FRAMEWORKS = "packs/*.Ref/*/ref/*/*.dll", "shared/*/*/*.dll"


class _Reference(NamedTuple):
    """One reference: a package with its version (empty: not stated), or a file."""

    package: str = ""
    version: str = ""
    file: str = ""


def referenced_assemblies(root: Path, project_files: Sequence[str]) -> list[Path]:
    """Return the assemblies that the projects of a checkout reference, each once, those of the framework last.

    What `dotnet restore` wrote (`obj/project.assets.json`) is exact, with the packages of packages; without it, the
    versions in the project files are used, and the newest that is there for a version that is not stated. Only files in
    the checkout, in the user's package folder and of an installed framework are returned, at most 4,000.
    """
    home = Path(os.environ.get("NUGET_PACKAGES") or Path.home() / ".nuget" / "packages")
    stated: list[_Reference] = []
    found: list[Path] = []
    for path in project_files:
        references = list(_read_project(root, path))
        found += _files_in_repository(root, path, references)
        restored = (
            [] if path.endswith((".props", ".config")) else list(islice(_restored(root, path, home), _MANY_FILES))
        )
        found += restored
        stated += [] if restored else references
    versions = {one.package.lower(): one.version for one in stated if one.version}
    for package in {one.package.lower(): None for one in stated if one.package}:
        found += _of_package(home, package, versions.get(package, ""))
    files = found + (_framework() if project_files else [])
    return list(dict.fromkeys(files))[:_MANY_FILES]


def _read_project(root: Path, path: str) -> Iterator[_Reference]:
    """Yield the references in a project file; nothing from one that is too large or is no XML."""
    try:
        data = read_below(root, path, _PROJECT_BYTES)
        # A document type could define entities that grow without end; UTF-16 has zeros between its letters.
        elements = [] if b"<!DOCTYPE" in data.replace(b"\0", b"") else ET.fromstring(data).iter()  # noqa: S314
    except (OSError, ET.ParseError, LookupError, ValueError):
        return
    for element in elements:
        inner = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in element}
        match element.tag.rpartition("}")[2]:
            case "PackageReference" | "PackageVersion":
                version = element.get("Version") or inner.get("Version", "")
                yield _Reference(element.get("Include") or element.get("Update") or "", version)
            case "package":
                yield _Reference(element.get("id") or "", element.get("version") or "")
            case "Reference" if inner.get("HintPath"):
                yield _Reference(file=inner["HintPath"].replace("\\", "/"))


def _files_in_repository(root: Path, path: str, references: Iterable[_Reference]) -> Iterator[Path]:
    """Yield the referenced files that are in the checkout, also behind links."""
    folder = posixpath.dirname(path)
    for one in references:
        places = [root / posixpath.normpath(posixpath.join(folder, one.file))] if one.file else []
        if path.endswith("packages.config"):
            places = sorted(
                root.glob(f"packages/{_plain(one.package)}.{_plain(one.version)}/lib/*/*.dll"), key=_newness
            )
        yield from (file for file in places if _is_file_below(file, root))


def _plain(text: str) -> str:
    """Return a name without what a path or a pattern of paths gives a meaning."""
    return re.sub(r"[^\w.+-]|^\.+$", "", text)[:_LONGEST_NAME]


def _is_file_below(file: Path, folder: Path) -> bool:
    """Return whether a file exists and is in a folder, also behind links; False for a path that no file can have."""
    try:
        return file.is_file() and file.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False


def _restored(root: Path, path: str, home: Path) -> Iterator[Path]:
    """Yield what `dotnet restore` chose for a project, from the user's package folder."""
    try:
        chosen = json.loads(
            read_below(root, posixpath.join(posixpath.dirname(path), "obj/project.assets.json"), _RESTORED_BYTES)
        )
        for packages in chosen["targets"].values():
            for name, package in packages.items():
                folder = home / str(chosen["libraries"][name].get("path", name.lower()))
                for file in package.get("compile", ()):
                    if file.endswith(".dll") and _is_file_below(folder / file, home):
                        yield folder / file
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return


def _of_package(home: Path, package: str, version: str) -> list[Path]:
    """Return the assemblies of a package for its newest framework: of the version, else of the newest that is there."""
    name, version = _plain(package.lower()), _plain(version.lower())
    folder = home / name / version
    if not name:
        return []
    if not version or not folder.is_dir():
        folder = max((home / name).glob("*"), key=_newness, default=folder)
    for kind in ("ref", "lib"):
        if targets := [target for target in folder.glob(f"{kind}/*") if any(target.glob("*.dll"))]:
            return sorted(max(targets, key=_newness).glob("*.dll"))
    return []


def _framework() -> list[Path]:
    """Return the assemblies of the newest installed framework, or of Mono."""
    roots = [os.environ.get("DOTNET_ROOT", ""), "/usr/share/dotnet", "/usr/lib/dotnet", "/usr/local/share/dotnet",
             f"{os.environ.get('PROGRAMFILES', '')}/dotnet"]  # fmt: skip
    for pattern in _FRAMEWORKS:
        files = [file for root in roots if root for file in Path(root).glob(pattern)]
        if files:
            return sorted(files, key=_newness, reverse=True)
    return sorted(Path("/usr/lib/mono/4.5-api").glob("*.dll")) or sorted(Path("/usr/lib/mono/4.5").glob("*.dll"))


def _newness(path: Path) -> tuple[int, list[int]]:
    """Return a key that orders paths by target framework, then by version: net472, netstandard2.0, netcoreapp3.1, net8.0."""
    modern = re.match(r"netcoreapp|net(?:[5-9]|\d\d+)\.", path.name)
    target = 2 if modern else 1 if path.name.startswith("netstandard") else 0
    return target, [int(number) for part in path.parts[-4:] for number in re.findall(r"\d{1,9}", part)]
