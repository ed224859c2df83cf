"""What everything else stands on: git, the store, the journal, redaction."""
