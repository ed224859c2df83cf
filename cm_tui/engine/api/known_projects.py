"""Known projects and their checkouts, without opening a store or repository."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cm_tui import model, paths
from cm_tui.engine.api.projects import all_names
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.journal import location
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.state_file import read_object


def known_projects(*, match: str = "") -> model.Page[model.KnownProject]:
    """Return the known projects, the last used first.

    `match`: only those with this in their name, identity or folders, ignoring case.
    """
    roots = _roots_of_journals()
    found = [_known(name, roots.get(name, ())) for name in all_names() if "+" not in name]
    word = match.casefold()
    rows = [
        one for one in found if word in "\n".join((one.id, one.name, one.identity, *one.roots, *one.gone)).casefold()
    ]
    rows.sort(key=lambda one: (-one.last, one.id))
    return model.Page(tuple(rows), len(rows))


def known_project(name: str) -> model.KnownProject:
    """Return the project of a name; there may be nothing of it."""
    return _known(name, _roots_of_journals().get(name, ()))


def _known(name: str, of_journal: Iterable[str]) -> model.KnownProject:
    store = paths.data_dir() / "projects" / name
    journal = Journal.named(name)
    manifest = read_object(store / paths.STORE_MANIFEST)
    indexed_root = manifest.get("root")
    owners = checkout_links.owners(name) or ()
    folders = [indexed_root] if isinstance(indexed_root, str) else []
    # A missing folder is still theirs: nothing else is in its place.
    current = (one for one in sorted(owners) if not Path(one).exists() or checkout_links.is_current(name, one))
    linked = [checkout_links.main_folder(one) for one in current]
    folders += [*linked, *sorted(of_journal)]
    # Links decide whose memory it is: a folder that was only here once may be another project's now.
    ours = list(dict.fromkeys(one for one in folders if _owner(one) in linked or not (linked or owners)))
    segments = journal.segments()
    times = [_time(store / paths.STORE_MANIFEST), *(_time(journal.file(one)) for one in segments[-1:])]
    text = manifest.get("identity")
    return model.KnownProject(
        id=name,
        # The name of a store begins with what identifies the project, which may be a commit.
        name=str(manifest.get("name") or (Path(ours[0]).name if ours else name.rpartition("-")[0]) or name),
        identity=text if isinstance(text, str) else "",
        roots=tuple(one for one in ours if Path(one).is_dir()),
        gone=tuple(one for one in ours if not Path(one).is_dir()),
        indexed=bool(manifest),
        recorded=bool(segments),
        last=max(times),
    )


def _owner(folder: str) -> str:
    """Return the folder whose links count for a checkout: that of its repository, or itself if missing."""
    return checkout_links.main_folder(checkout_links.owner_of(Path(folder)))


def _roots_of_journals() -> dict[str, list[str]]:
    """Return the checkouts that wrote to journals, by the journal's name."""
    found: dict[str, list[str]] = {}
    for folder, entry in _entries(location.base() / "roots.json"):
        found.setdefault(entry, []).append(folder)
    return found


def _entries(file: Path) -> Iterator[tuple[str, str]]:
    for folder, entry in read_object(file).items():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield folder, entry["name"]


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
