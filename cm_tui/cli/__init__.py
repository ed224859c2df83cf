"""The commands; data to stdout, words to stderr."""
