"""What agents did: journal consumer, turns, episodes, redaction, and the list of sources."""
