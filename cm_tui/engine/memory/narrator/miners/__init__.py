"""Miners: each finds one kind of fact in turns, without a model, by a documented formula."""
