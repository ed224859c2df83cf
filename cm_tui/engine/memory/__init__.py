"""What agents did: journal consumer, turns, episodes, and the list of sources."""
