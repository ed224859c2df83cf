"""Definitions: files that control memory and context, read with the place of every mistake."""
