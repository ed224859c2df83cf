"""Symbols and the ways between them: who calls what, and who imports whom."""
