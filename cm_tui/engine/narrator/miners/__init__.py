"""Miners: each finds one kind of fact in turns, without a model, and says by which formula."""
