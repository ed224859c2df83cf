"""The configuration: the user's settings, what a repository may set, and what of it a person has trusted."""

from cm_tui.config.load import load_config, renamed_settings
from cm_tui.config.sections import (
    AgentsConfig,
    Config,
    DaemonConfig,
    EmbeddingConfig,
    HistoryConfig,
    IndexConfig,
    McpConfig,
    SearchConfig,
    TuiConfig,
    WatchConfig,
)

__all__ = [
    "AgentsConfig",
    "Config",
    "DaemonConfig",
    "EmbeddingConfig",
    "HistoryConfig",
    "IndexConfig",
    "McpConfig",
    "SearchConfig",
    "TuiConfig",
    "WatchConfig",
    "load_config",
    "renamed_settings",
]
