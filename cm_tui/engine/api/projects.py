"""Projects and their stores: find, list, check and remove them without opening an engine.

Imports are local: the command line imports this module before it knows the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model, paths
from cm_tui.errors import StoreError

if TYPE_CHECKING:
    from cm_tui.engine.platform.git.reach import Reach


def locate(folder: Path | None, *, force: bool = False, around: bool = False) -> tuple[Path, Path]:
    """Return the project root of a folder, and the folder of its store, whether that exists or not.

    `folder`: default: the current one; `force`: accept a root that is refused as unsafe; `around`: the folder is the
    current one, not one that the user named. Raises RefusedError if the root is unsafe and `force` is not set, or the
    store is another project's; NotFoundError if there is no such folder.
    """
    from cm_tui.engine.platform.git.identity import identify, refuse_other
    from cm_tui.engine.platform.git.roots import find_root

    root = find_root(folder, force=force, around=around)
    identity = identify(root)
    refuse_other(identity)
    return root, identity.store_of(root)


def root_of(folder: Path | None, *, around: bool = False) -> Path:
    """Return the root of the project around a folder.

    Raises RefusedError if the root is unsafe; NotFoundError if there is no such folder.
    """
    from cm_tui.engine.platform.git.roots import find_root

    return find_root(folder, around=around)


def checkout_head(root: Path) -> model.CheckoutHead:
    """Return what is checked out at a project's root, from git's own files, in well below a millisecond."""
    from cm_tui.engine.platform.git.git_dir import git_folders, head_of

    folders = git_folders(root)
    if folders is None:
        return model.CheckoutHead(None, None)
    head = head_of(folders)
    name = head.text.removeprefix("ref:").strip() if head.text.startswith("ref:") else ""
    return model.CheckoutHead(name.removeprefix("refs/heads/") or None, head.sha)


def reach(root: Path, folders: Iterable[Path]) -> Reach:
    """Return whether folders cover a project: it is in one, or is a worktree of a repository in one."""
    from cm_tui.engine.platform.git.reach import reach as reach_of

    return reach_of(root, folders)


def indexed_checkout_of(root: Path) -> Path | None:
    """Return the checkout that the store of one was last built from; None: no index."""
    from cm_tui.engine.platform.git.identity import identify, manifest_root

    return manifest_root(identify(root).store_of(root))


def indexed_checkouts() -> list[Path]:
    """Return the checkouts that the stores were last built from, without opening a repository."""
    from cm_tui.engine.platform.git.identity import manifest_root

    return [root for store in all_stores() if (root := manifest_root(store)) is not None]


def store_of(folder: Path | None = None) -> Path:
    """Return the folder of a project's store, whether it exists or not."""
    return locate(folder, force=True)[1]


def name_of(folder: Path | None, *, force: bool = False) -> str:
    """Return the name of a project's folders, for all its checkouts. Errors and arguments as for `locate`."""
    return paths.project_store(locate(folder, force=force)[1]).name


def store_folder(name: str) -> Path:
    """Return the folder of the store of a name, whether it exists or not."""
    return paths.data_dir() / "projects" / name


def has_store(store: Path) -> bool:
    """Return whether there is a store in a folder; nothing is made to find out."""
    return store_file(store).exists()


def is_indexed(folder: Path | None = None) -> bool:
    """Return whether a project has a store at all; nothing is made to find out."""
    return has_store(locate(folder)[1])


def has_memory(folder: Path | None = None) -> bool:
    """Return whether a project has a store, or any recorded data; creates nothing."""
    from cm_tui.engine.memory.entries.entries import Entries
    from cm_tui.engine.platform.journal.journal import Journal

    root, store = locate(folder)
    return has_store(store) or any(True for _ in Journal.of(root).read()) or bool(Entries(root).all().shown)


def store_file(store: Path) -> Path:
    """Return the file that makes a folder a store."""
    return store / paths.STORE_DATABASE


def all_stores() -> list[Path]:
    """Return the folders of all stores."""
    return sorted(path for path in (paths.data_dir() / "projects").glob("*") if path.is_dir())


def all_names() -> list[str]:
    """Return the names of all projects with a store or a journal; both folders have that name."""
    from cm_tui.engine.platform.journal import location

    journals = (path.name for path in location.base().glob("*") if path.is_dir())
    return sorted({*journals, *(store.name for store in all_stores())})


def names_beside(root: Path) -> list[str]:
    """Return the names of the stores that a project has for its other checkouts. Errors as for `locate`."""
    from cm_tui.engine.api.worktree_stores import copies_of

    store = store_of(root)
    project = paths.project_store(store)
    return [one.name for one in (project, *copies_of(project)) if one != store and has_store(one)]


def scan_store(name: str) -> model.SecretsReport:
    """Look for secrets in the journal and store of a name; no daemon may have them open.

    Raises StoreError if one of them cannot be read.
    """
    from contextlib import closing

    from cm_tui.engine.memory.erasure.scan import scan
    from cm_tui.engine.platform.journal.journal import Journal
    from cm_tui.engine.platform.store.database import Database

    store, journal = store_folder(name), Journal.named(name)
    if not has_store(store):
        return scan(journal, None, store)
    with closing(Database(store)) as db:
        return scan(journal, db, store)


def scan_files() -> model.SecretsReport:
    """Look for secrets in the small files of all projects."""
    from cm_tui.engine.memory.erasure.scan import scan

    return scan(None, None, None)


def remove_store(store: Path, *, keep: str = "") -> None:
    """Remove a store and its copies, or with `keep` all its own files but that one.

    No daemon may have it open. Raises StoreBusyError if another process has it; StoreError if it cannot be removed.
    """
    import shutil

    from cm_tui.engine.api.worktree_stores import copies_of
    from cm_tui.engine.platform.store.rewrite import refuse_busy

    stores = [one for one in (*(() if keep else copies_of(store)), store) if one.exists()]
    for one in stores:
        refuse_busy(one)
    try:
        if not (store / keep).is_file():
            for one in stores:
                # First: a copy without it does not count.
                (one / paths.STORE_MANIFEST).unlink(missing_ok=True)
                shutil.rmtree(one)
            return
        for entry in store.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != keep:
                entry.unlink()
    except OSError as error:
        raise StoreError(f"Cannot remove {store}: {error}", hint="Check its permissions.") from error


def has_journal(name: str) -> bool:
    """Return whether anything was recorded of a project, by the name of its folder."""
    from cm_tui.engine.platform.journal.journal import Journal

    return bool(Journal.named(name).segments())


def episodes_of(name: str) -> int:
    """Return the number of episodes in a project's journal, by its folder name.

    Raises StoreError if it cannot be read.
    """
    from cm_tui.engine.platform.journal import removal
    from cm_tui.engine.platform.journal.journal import Journal

    return removal.count_episodes(Journal.named(name))


def drop_episodes(name: str) -> None:
    """Remove all recorded sessions of a project, by its folder name; they cannot be recreated.

    Raises StoreError if it cannot be removed, or another process holds the journal.
    """
    from cm_tui.engine.memory.recalls.recall_log import RecallLog
    from cm_tui.engine.platform.journal import removal
    from cm_tui.engine.platform.journal.journal import Journal

    removal.remove(Journal.named(name))
    RecallLog.named(name).drop()
    # The daemon's positions reveal who worked in which folder.
    (paths.state_dir() / "hook" / f"{name}.json").unlink(missing_ok=True)


def clear_store(store: Path) -> None:
    """Remove a store's rebuildable data: all but the user's marks, and that a checkout has its own one.

    Raises StoreBusyError if another process has it; StoreError if it cannot be removed.
    """
    from cm_tui.engine.code.mainline.user_marks import FILE

    remove_store(store, keep=FILE if store == paths.project_store(store) else paths.STORE_MANIFEST)


def plan_rebuild(folder: Path | None = None) -> model.IndexPlan:
    """Return what a rebuild of a project's index would do, whatever the state of its store; changes nothing.

    Raises CmError if the project cannot be found, or its repository or settings cannot be read.
    """
    import tempfile
    from contextlib import closing

    from cm_tui.config import load_config
    from cm_tui.engine.code.index.plan import make_plan
    from cm_tui.engine.platform.store.database import Database

    root, _ = locate(folder)
    with tempfile.TemporaryDirectory(prefix="cm-") as place, closing(Database(Path(place), in_memory=True)) as nothing:
        return make_plan(nothing, root, load_config(root).index, full=True, since=None)


def begin_rebuild(root: Path, store: Path) -> None:
    """Clear a store for a rebuild, once the rebuild is certain to be possible.

    Raises CmError if the repository or the settings cannot be read; the store is left as it is. StoreBusyError if
    another process has it. StoreError if it cannot be removed.
    """
    import tempfile

    from cm_tui.config import load_config
    from cm_tui.engine.platform.git.repository import Repository

    load_config(root)
    with tempfile.TemporaryDirectory(prefix="cm-") as place:
        repository = Repository(root.resolve(), Path(place) / "shadow")
        repository.tree(repository.head().sha)
    clear_store(store)


def examine(locate: Callable[[], Path], check: Callable[[], tuple[model.Check, ...]]) -> tuple[model.Check, ...]:
    """Check a project that may not open: what is wrong with its repository or store is one of the findings.

    `locate`: returns its root; `check`: opens its engine and asks it. Raises CmError if it cannot be located for a reason
    that is no finding.
    """
    from cm_tui.engine.doctor import installation
    from cm_tui.errors import CmError

    try:
        root = locate()
    except CmError as error:
        if not error.finding:
            raise
        return (*installation.examine_installation(), installation.failed("repository", error))
    try:
        return check()
    except CmError as error:
        return (*installation.examine(root), installation.failed("store", error))


def examine_closed(root: Path) -> tuple[model.Check, ...]:
    """Check the installation and a project without its store."""
    from cm_tui.engine.doctor.installation import examine

    return examine(root)
