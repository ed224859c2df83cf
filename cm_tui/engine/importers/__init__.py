"""Past and running sessions of coding agents, read from the agents' own transcripts and recorded as episodes."""
