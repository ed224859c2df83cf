"""The daemon, which has all stores of a user open, and the remote engine that asks it."""
