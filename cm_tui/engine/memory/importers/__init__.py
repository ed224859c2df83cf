"""Recording past and running sessions of coding agents as episodes."""
