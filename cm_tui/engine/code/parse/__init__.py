"""Blob in; symbols, references, imports and chunks out."""
