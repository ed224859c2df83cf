"""An index run: scan, classify, parse, write, passages, vectors, in that order."""
