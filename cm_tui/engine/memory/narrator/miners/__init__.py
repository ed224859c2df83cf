"""Miners: each finds one kind of fact in turns, without a model, by a documented formula.

A miner is a function without state: earlier turns of the session are in `turn.before`.
"""
