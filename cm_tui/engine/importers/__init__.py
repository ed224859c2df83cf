"""Past and running sessions of coding agents, recorded as episodes: which are of this project, what of them is new."""
