"""Layers: every kind of memory through one interface, by reference."""
