"""Mentions: names of the code in the memory, and whether they are still valid."""
