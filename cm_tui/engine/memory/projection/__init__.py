"""Agents' work: journal consumer, turns, the record of an episode, and the list of sources."""
