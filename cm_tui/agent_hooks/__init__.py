"""`cm hook EVENT`: what agents and git tell the memory, and what the daemon makes of it.

A hook is on the way of someone's work: `command` and what it imports is the standard library and little else.
"""
