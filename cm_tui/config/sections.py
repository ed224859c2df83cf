"""Every setting with its default, its limits and its place at the trust boundary, as frozen records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

Rule = Literal["counts", "trust", "user"]
"""`counts`: at once. `trust`: after a person trusted it. `user`: never; it is read from the user's settings alone."""


class Place(NamedTuple):
    """What becomes of a setting that a repository brings.

    Attributes:
        rule: when it counts.
        combine: returns what counts where the user set such a value too; None: the repository's.
        harmless: values that ask for less than there is: they count at once, below the user's own.
    """

    rule: Rule
    combine: Callable[[Any, Any], Any] | None = None
    harmless: tuple[Any, ...] = ()


def _together(own: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *theirs)))


def _less_history(own: int, theirs: int) -> int:
    """Return the depth that reads less; 0 stands for all."""
    return min(own or theirs, theirs or own)


COUNTS, TRUST, USER = Place("counts"), Place("trust"), Place("user")
LESS, BOTH = Place("counts", min), Place("counts", _together)
"""Of two limits the lower one counts; patterns of both."""
LOCAL, OFF = Place("trust", harmless=("bundled", "none")), Place("trust", harmless=(False,))


class _Section(BaseModel):
    """Settings that never change, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class IndexConfig(_Section):
    """What is indexed."""

    # Credential files stay out all the same: see `untrusted_include`.
    include: Annotated[tuple[str, ...], BOTH] = ()
    """gitignore patterns that are indexed although a default rule would skip them."""
    include_credentials: Annotated[tuple[str, ...], TRUST] = ()
    """gitignore patterns of credential files that are indexed all the same, by their names."""
    untrusted_include: Annotated[tuple[str, ...], USER] = ()
    """Patterns of `include` that a repository brought: they bring back no file of credentials. Set when the
    configuration is read, never by hand."""
    exclude: Annotated[tuple[str, ...], BOTH] = ()
    """gitignore patterns that are skipped on top of `.gitignore`."""
    max_file_bytes: Annotated[int, LESS] = Field(default=1_000_000, gt=0, le=1_000_000_000)
    workers: Annotated[int, COUNTS] = Field(default=0, ge=0, le=256)
    """Parser processes; 0: one a core."""


class RemoteConfig(_Section):
    """The endpoint of a remote provider; what is set here wins over the same names beside the table."""

    base_url: str | None = None
    api_key: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = {}


class BatchConfig(_Section):
    """Large first embeddings as batch jobs of a remote provider: cheaper, and done when it finds the time."""

    enabled: bool = False
    wait: bool = False
    """The index run waits for the jobs; otherwise a later run fetches what they made."""
    poll_interval_seconds: float = Field(default=10.0, gt=0, le=3600)
    timeout_minutes: float = Field(default=60.0, gt=0, le=10_080)
    """How long a run waits; jobs that are not done then are fetched by a later one."""
    concurrency: int = Field(default=2, gt=0, le=16)
    """Jobs under way at a time."""


class EmbeddingConfig(_Section):
    """Which model turns text into vectors. Never switched from local to cloud without being told to."""

    # What names the model belongs together: half of it would be another model.
    provider: Annotated[Literal["bundled", "fastembed", "openai", "gemini", "voyage", "none"], LOCAL] = "bundled"
    """`openai` is any endpoint that speaks its embeddings API; `local` is another word for bundled."""
    fallback: Annotated[Literal["bundled", "openai", "gemini", "voyage", "none"], LOCAL] = "none"
    """What is used, as a whole, while the provider fails; a remote one is reached because it is named here alone."""
    model: Annotated[str | None, TRUST] = None
    """None: the provider's own."""
    path: Annotated[str | None, TRUST] = None
    """Local folder of a fastembed model."""
    model_file: Annotated[str | None, TRUST] = None
    """ONNX file of that model: relative to the folder, or absolute."""
    pooling: Annotated[Literal["none", "mean", "cls", "last"], TRUST] = "none"
    """How a model in a local folder makes one vector of its tokens' vectors; none: it does so itself."""
    dimensions: Annotated[int | None, TRUST] = Field(default=None, gt=0)
    base_url: Annotated[str | None, TRUST] = None
    """None: the provider's own."""
    api_key: Annotated[str | None, TRUST] = None
    api_key_env: Annotated[str | None, TRUST] = None
    """The variable that holds the key; None: the provider's usual one."""
    headers: Annotated[Mapping[str, str], TRUST] = {}
    remote: Annotated[RemoteConfig, TRUST] = RemoteConfig()
    batch: Annotated[BatchConfig, TRUST] = BatchConfig()
    batch_size: Annotated[int, COUNTS] = Field(default=64, gt=0, le=4096)
    timeout_seconds: Annotated[float, COUNTS] = Field(default=30.0, gt=0, le=3600)
    concurrency: Annotated[int, COUNTS] = Field(default=2, gt=0, le=64)
    cache_entries: Annotated[int, COUNTS] = Field(default=50_000, ge=0, le=10_000_000)
    """Vectors kept for text that is not in the index now."""

    @field_validator("provider", "fallback", mode="before")
    @classmethod
    def _in_one_word(cls, name: Any) -> Any:
        return "bundled" if name == "local" else name


class SearchConfig(_Section):
    """How search answers when nothing else is said."""

    profile: Annotated[str, COUNTS] = "code"
    reranker: Annotated[str | None, TRUST] = None
    """A fastembed cross-encoder, or a local folder of one."""


class AgentsConfig(_Section):
    """Context for agents, and recording of their sessions."""

    budget: Annotated[int, LESS] = Field(default=2_000, ge=0, le=20_000)
    """Tokens that a prompt's context from the memory may take; 0: none is added."""
    wait_seconds: Annotated[float, LESS] = Field(default=1.5, ge=0, le=10)
    """Longest wait of a prompt for the memory; later results are dropped."""
    start_budget: Annotated[int, LESS] = Field(default=2_000, ge=0, le=20_000)
    """Tokens of memory that a session is given when it begins; 0: none."""
    flush: Annotated[bool, LESS] = True
    """Remind an agent to save lasting knowledge before its context is compacted."""
    remind: Annotated[bool, LESS] = True
    """Tell an agent what is known about a file or command before it edits or runs it."""
    window: Annotated[int, USER] = Field(default=200_000, ge=10_000, le=100_000_000)
    """Tokens of an agent's context, where the agent does not tell."""
    reserve_tokens: Annotated[int, USER] = Field(default=20_000, ge=0, le=10_000_000)
    """Tokens of the context that an agent keeps free: it compacts before they are used."""
    soft_tokens: Annotated[int, USER] = Field(default=4_000, ge=0, le=10_000_000)
    """So many tokens before that the reminder comes."""
    record: Annotated[bool, OFF] = True
    """Keep prompts and what the agent did in the project's journal."""


class MemoryConfig(_Section):
    """What of sessions is remembered, beside what hooks tell."""

    follow_transcripts: Annotated[bool, OFF] = True
    """Record what agents' own transcripts tell while sessions go on, once a person imported the project's sessions."""

    never_record: Annotated[tuple[str, ...], USER] = ()
    """Folders in which nothing is recorded: absolute, or with `~` or `**/` before them; never read from a project's file."""

    # They may be anywhere on disk, and agents can search their content.
    note_folders: Annotated[tuple[str, ...], USER] = ()
    """Folders of Markdown that are read as notes too: absolute, with `~`, or below the project's root."""

    @field_validator("never_record")
    @classmethod
    def _checked(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if not (pattern.startswith(("/", "~", "**/")) or Path(pattern).is_absolute()):
                raise ValueError(f"{pattern!r} must begin with `/`, `~` or `**/`")
        return patterns


class NarratorModelConfig(_Section):
    """A language model behind an endpoint that speaks OpenAI's chat API, local or remote; off by default."""

    enabled: bool = False
    base_url: str = ""
    """Such as `http://127.0.0.1:11434/v1`."""
    name: str = ""
    """Of the model, as the endpoint knows it."""
    api_key: str | None = None
    api_key_env: str | None = None
    """The variable that holds the key."""
    headers: Mapping[str, str] = {}
    timeout_seconds: float = Field(default=30.0, gt=0, le=600)
    max_tokens: int = Field(default=50_000, ge=0, le=10_000_000)
    """Tokens that one pass may take, sent and received; what is left over is done without the model."""


class NarratorConfig(_Section):
    """What the narrator does by itself. Read from the user's file and the environment, never from a project's."""

    auto: bool = True
    """The daemon processes new episodes while it is idle."""
    min_confidence: float = Field(default=0.5, ge=0, le=1)
    """What is less sure is not proposed."""
    policy: Literal["by-hand", "careful", "custom"] = "by-hand"
    """What is approved without asking: nothing; what was seen again and again and has nothing against it; or `approve`."""
    approve: Mapping[str, float] = {}
    """With the policy `custom`: kinds of proposals and the least confidence from which each is approved; never for the user."""
    model: NarratorModelConfig = NarratorModelConfig()


class ContextConfig(_Section):
    """What is handed over to agents by definitions and rules, and what pipelines ingest."""

    budget: Annotated[int, LESS] = Field(default=4_000, ge=1, le=1_000_000)
    """Tokens of an assembly, where nothing else is asked for."""
    timeout_seconds: Annotated[float, LESS] = Field(default=2.0, gt=0, le=60)
    """What one definition may take at most, whatever its file says."""
    cache_seconds: Annotated[float, LESS] = Field(default=30.0, ge=0, le=3600)
    """How long an answer to the same step counts, as long as nothing it stands on has changed."""
    # What is kept on this machine, what runs and where words are sent, is the user's alone to decide.
    snapshots: Annotated[int, USER] = Field(default=500, ge=0, le=100_000)
    """Assemblies that are kept with their trace; the oldest go first."""
    ingest: Annotated[bool, USER] = True
    """The daemon runs pipelines when what they wait for happens."""
    processors: Annotated[tuple[str, ...], USER] = ()
    """Names of custom processors, entry points of installed packages, that may run."""
    model: Annotated[NarratorModelConfig, USER] = NarratorModelConfig()
    """The language model for `llm_rephrase` and `llm_extract`; off by default."""


class DaemonConfig(_Section):
    """The process that owns all stores. Read from the user's file and the environment, never from a project's."""

    use: Literal["auto", "never"] = "auto"
    """`never`: each command opens the store itself, as long as no other process has it."""
    port: int = Field(default=0, ge=0, le=65535)
    """Also listen on this port of 127.0.0.1, for agents that speak MCP over HTTP; 0: only on the private socket."""
    idle_seconds: float = Field(default=1800.0, gt=0)
    """How long the daemon stays without requests."""
    project_idle_seconds: float = Field(default=60.0, gt=0)
    """How long it keeps an unused project open, and the unused model of prose in memory."""
    wait_seconds: float = Field(default=0.2, ge=0, le=60)
    """Longest wait of a request for the index to catch up with changes; then the current index is used."""


class WatchConfig(_Section):
    """How changes of the working tree are noticed."""

    enabled: Annotated[bool, LESS] = True
    debounce_seconds: Annotated[float, COUNTS] = Field(default=2.0, gt=0, le=60)
    """Quiet time before a change is reported."""
    polling: Annotated[bool, COUNTS] = False
    """Poll instead of using file system events, as for network drives."""


class HistoryConfig(_Section):
    """How much of history is read by itself, after an index run."""

    enabled: Annotated[bool, LESS] = True
    depth: Annotated[int, Place("counts", _less_history)] = Field(default=5_000, ge=0)
    """Commits back from HEAD; 0: all. `cm history backfill` goes further."""


class McpConfig(_Section):
    """What servers for agents may answer for. Read from the user's file and the environment, never from a project's."""

    roots: tuple[str, ...] = ()
    """Folders whose projects every server answers for, on top of the one that it was started for."""


class TuiConfig(_Section):
    """How the application looks and listens."""

    theme: Annotated[str | None, COUNTS] = None
    keys: Annotated[Mapping[str, str], TRUST] = {}
    """Binding id to keys, such as `search.focus = "ctrl+f"`."""


class Config(_Section):
    """Everything that can be set."""

    index: IndexConfig = IndexConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    search: SearchConfig = SearchConfig()
    agents: AgentsConfig = AgentsConfig()
    memory: MemoryConfig = MemoryConfig()
    # Only the user decides what writes into the memory unasked, and where its text is sent.
    narrator: Annotated[NarratorConfig, USER] = NarratorConfig()
    context: ContextConfig = ContextConfig()
    daemon: Annotated[DaemonConfig, USER] = DaemonConfig()
    watch: WatchConfig = WatchConfig()
    history: HistoryConfig = HistoryConfig()
    mcp: Annotated[McpConfig, USER] = McpConfig()
    tui: TuiConfig = TuiConfig()
    profiles: Annotated[Mapping[str, Mapping[str, Any]], COUNTS] = {}
    """Changes to profiles by name; the search room checks them."""
