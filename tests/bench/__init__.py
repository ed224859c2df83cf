"""Measurements behind the figures in the guides."""
