"""The daemon, which owns all stores of a user, and the engine that leads to it."""
