"""`cm hook EVENT`: events from agents and git, sent to the daemon.

A hook is on the way of someone's work: `command` and what it imports is the standard library and little else.
"""
