"""Definitions: the files that say what is remembered and handed over, read with the place of every mistake."""
