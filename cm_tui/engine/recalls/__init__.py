"""How often what is remembered was recalled, and what a session keeps for itself: outside the index."""
