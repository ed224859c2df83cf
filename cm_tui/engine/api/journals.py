"""What follows from journals as they grow: index runs, and the episodes of sessions that stopped."""

from cm_tui.engine.memory.journal_consumer import JournalConsumer, Source

__all__ = ["JournalConsumer", "Source"]
