"""Mentions: names of the code in what is remembered, and whether they are still true of it."""
