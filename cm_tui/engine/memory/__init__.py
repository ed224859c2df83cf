"""What agents did: journal consumer, turns, the record of an episode, and the list of sources."""
