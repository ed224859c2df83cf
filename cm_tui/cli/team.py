"""`cm team`."""

from __future__ import annotations

import time

from cm_tui import model
from cm_tui.cli.declare import Family
from cm_tui.cli.options import DryRun, open_engine
from cm_tui.cli.output import advise, as_json, narrate, print_page
from cm_tui.counts import count
from cm_tui.model.dates import age
from cm_tui.model.history import SHORT_SHA

_BRANCH = "cm-vectors"


def publish(*, dry_run: DryRun = False) -> None:
    """Write the vectors of HEAD, a commit of the default branch, to the branch cm-vectors. You push it yourself."""
    with open_engine() as engine:
        made = engine.publish_vectors(dry_run=dry_run)
    if as_json(made):
        return
    narrate(f"{'would be published' if dry_run else 'published'}: {_size(made)} of {made.of[:SHORT_SHA]}, {made.model}")
    if not dry_run:
        advise(f"`git push --force-with-lease origin {_BRANCH}` shares them")


def pull() -> None:
    """Take the vectors of the nearest published commit, so that the next `cm index` embeds only what differs."""
    with open_engine() as engine:
        found = engine.pull_vectors()
    if as_json(found):
        return
    where = f"{count(found.behind, 'commit')} before HEAD" if found.behind >= 0 else "not an ancestor of HEAD"
    narrate(f"{_size(found)} of {found.of[:SHORT_SHA]} ({where}), {found.model}")
    if found.damaged:
        narrate(f"{count(found.damaged, 'file')} damaged: embedded here instead.")
    advise("`cm index` uses them")


def list_() -> None:
    """List the published commits, the newest first."""
    with open_engine() as engine:
        found = engine.team_vectors()
    print_page(
        model.Page(found, len(found)),
        lambda one: (
            f"{one.of[:SHORT_SHA]}  {age(time.time() - one.time):<14}  {one.model}{'' if one.usable else '  (another model)'}"
        ),
    )


def _size(one: model.TeamVectors) -> str:
    return f"{count(one.vectors, 'vector')} for {count(one.files, 'file')}"


def alone() -> None:
    """Share vectors of code through the repository: without a command they are listed."""
    list_()


team = Family("", (publish, pull, list_), alone=alone)
