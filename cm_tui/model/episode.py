"""Records of what agents and people did: episodes, the steps in them, and the sessions that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.model.history import CommitPoint

EpisodeType = Literal["task", "command", "query", "response", "tool_call", "error", "note"]
"""`task` is a whole turn, from prompt to outcome; the others are single events, `note` one by the user."""
Outcome = Literal["", "ok", "failed", "interrupted", "unanswered"]
"""The outcome; empty: unknown; `unanswered`: a prompt without any reaction of the agent."""
Actor = Literal["person", "agent", "import", "narrator"]
"""Who wrote it down."""
EpisodeState = Literal["shown", "forgotten", "archived"]
"""`forgotten`: hidden until undone; `archived`: outside the store, shown on request."""
StepKind = Literal["said", "thought", "plan", "tool"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that an agent did on the way to its answer."""

    kind: StepKind
    text: str
    """What it said, or what it gave a tool."""
    tool: str = ""
    """Name of the tool, as the agent calls it."""
    result: str = ""
    """Beginning of what the tool gave back; where it failed, the end of it too."""
    path: str = ""
    """The file that it was about."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Who forgot something, when and why."""

    actor: str
    agent: str
    """Name of the agent, where one did."""
    time: float
    """Seconds since the epoch; 0: not known."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTexts:
    """What the journal's record of an episode and the episode itself have in common.

    Texts are those of people and agents: they may hold control characters. What looked like a secret was taken out before
    they were stored.
    """

    type: EpisodeType = "task"
    agent: str = ""
    session: str = ""
    root: str = ""
    """Folder of the checkout that it worked in."""
    prompts: tuple[str, ...] = ()
    answer: str = ""
    files: tuple[str, ...] = ()
    """Paths that it touched, and what differed from the commit when it stopped."""
    patch: str = ""
    """How the working tree differed from the commit when it stopped; empty in lists."""
    patch_cut: bool = False
    """The patch was longer than what is kept."""
    redacted: int = 0
    """Secrets that were taken out of it."""
    note: str = ""
    """What was said when it was recorded, such as why there is no patch."""
    actor: Actor = "agent"
    title: str = ""
    """What its session is called, where an agent named it."""
    parent: str = ""
    """The session that started its session: this one is a sub-agent's."""
    turn: int = 0
    """Place in its session, from 1; 0: not known."""
    plan: str = ""
    """Empty in lists."""
    verdict: str = ""
    outcome: Outcome = ""
    steps: tuple[Step, ...] = ()
    """What was done on the way; empty in lists."""
    step_count: int = 0
    """How many there were, also of those that are not kept."""
    tools: tuple[str, ...] = ()
    """Names of the tools that were used, each once."""
    tokens: int = 0
    """Tokens that it took, where the agent tells them."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(EpisodeTexts):
    """One turn of a session, or one event: what was asked, at which commit, and what came of it.

    Lists have the beginnings of long texts; one that is asked for by its name is whole.
    """

    id: str
    time: float
    """When it ended: seconds since the epoch."""
    sha: str
    """The commit that it saw, HEAD at its first prompt, which the patch starts from; empty: none was recorded."""
    head: str
    """HEAD when it stopped: another one when it committed."""
    moment: CommitPoint | None
    """That commit, on the mainline or off it; None: unknown."""
    why: str
    """Why there is no commit point, or why it is not exactly that commit, or not known; empty: it can be replayed."""
    patch_lines: int
    rating: int = 0
    """1: useful; -1: misleading; 0: not rated."""
    pinned: bool = False
    state: EpisodeState = "shown"
    forgotten: Forgetting | None = None
    """Of one that is asked for by its name: who forgot it."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes are wanted: those that fit everything that is given; of several values of a field one is enough."""

    text: str = ""
    """Words, each of which stands in prompts, answer, verdict, title, agent, session, paths, day, sha, or is `#17`."""
    types: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    file: str = ""
    """A path that it touched, or a folder above it."""
    session: str = ""
    since: float | None = None
    """Seconds since the epoch, inclusive."""
    until: float | None = None
    """Exclusive."""
    pinned: bool | None = None
    rating: int | None = None
    state: EpisodeState = "shown"
    by_hand: bool | None = None
    """True: only those without an agent or without a session; False: only the others."""


@dataclass(frozen=True, slots=True)
class Session:
    """The episodes of one session of an agent, or of a person."""

    id: str
    agent: str
    title: str
    """What the agent called it, else the first line of what was asked first."""
    parent: str
    began: float
    ended: float
    episodes: int
    tokens: int
    files: int
    failed: int
    """How many of its episodes failed; one that the user interrupted did not."""
    pinned: int
    root: str


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a field, and how many episodes have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class EpisodeStats:
    """Totals of the episodes that a filter leaves."""

    episodes: int
    sessions: int
    tokens: int
    files: int
    per_day: tuple[int, ...]
    """How many on each of the last days, the oldest first; the last one is today, by the local clock."""
    outcomes: tuple[Facet, ...]
    types: tuple[Facet, ...]
    agents: tuple[Facet, ...]
    tools: tuple[Facet, ...]
    tags: tuple[Facet, ...]
    note: str = ""
    """What they leave out, such as what is not read yet."""


@dataclass(frozen=True, slots=True)
class EpisodeEdit:
    """Changes to episodes; None keeps a field."""

    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    rating: int | None = None
    pinned: bool | None = None
    forgotten: bool | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A change that was made, and can be undone."""

    change: str
    """Id of the change."""
    ids: tuple[str, ...]
    """What it changed."""
    words: str
    """What it did, for people: `pinned 3 episodes`."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A text that was changed after the change to undo."""

    id: str
    title: str
    before: str
    """The text that undoing would bring back."""
    now: str
    """The text that is there."""
    yours: str = ""
    """The text as the change to undo left it."""
    changed_by: str = ""
    """Who changed it last, such as `agent codex`; empty: unknown, or the item was forgotten."""


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was undone, or would be."""

    change: str
    """Id of the change."""
    ids: tuple[str, ...]
    """What it had changed."""
    words: str
    """What became of it, for people: `no longer pinned: 3 episodes`."""
    conflicts: tuple[Conflict, ...] = ()
    """What changed since: it was left as it is, unless that was to go too."""
    dry_run: bool = False
    notes: tuple[str, ...] = ()
    """Warnings, such as a later change that cannot be undone."""


@dataclass(frozen=True, slots=True)
class RetentionRow:
    """An episode that would leave the journal, or did."""

    id: str
    time: float
    title: str
    reason: str
    bytes: int


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What leaves the journal by its age, what waits, and how much space it all takes."""

    dry_run: bool
    journal_bytes: int
    """What counts towards the cap: the journal without what was erased or archived."""
    cap_bytes: int
    halved: bool
    """The journal is over the cap: all ages count twice."""
    consolidated_days: float
    """Age from which an episode goes that was consolidated."""
    high_value_days: float
    """Age from which one goes that is pinned, rated or evidence of something approved."""
    unconsolidated_days: float
    """Age from which one that was not consolidated is put to the narrator."""
    archived: int
    """How many go to the archive."""
    archived_bytes: int
    rows: tuple[RetentionRow, ...]
    """The oldest of them."""
    waiting: int
    """How many wait for the narrator."""
    in_archive: int
    """How many the archive held before."""
    archive_bytes: int
    """Size of its files, which does not count towards the cap."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What was deleted from the archive for good, or would be."""

    dry_run: bool
    ids: tuple[str, ...]
    bytes: int
    """Size of their lines, before they were compressed."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkState:
    """Where the last session of a project stopped, from its own record and git; without a session all of it is empty.

    Texts are those of people, agents and programs: they may hold control characters. Secrets that can be recognised are
    replaced.
    """

    agent: str = ""
    session: str = ""
    parent: str = ""
    """The session that started this one, which is a sub-agent's."""
    title: str = ""
    episode: str = ""
    """Id of its newest episode; empty: its first turn is still under way."""
    ended: float = 0.0
    """When it did something last: seconds since the epoch."""
    request: str = ""
    """What the user asked last."""
    decisions: tuple[str, ...] = ()
    """What was decided, corrected or written down in it, the newest first; what only the agent calls decided begins with its name."""
    files: tuple[str, ...] = ()
    """Files with uncommitted changes, those that the session touched first; without git those that it touched."""
    command: str = ""
    """The last command that failed and did not pass since."""
    error: str = ""
    """Why it failed: a line of its output."""
    plan: str = ""
    steps: tuple[str, ...] = ()
    """Steps of the plan that are not done, in its order."""
