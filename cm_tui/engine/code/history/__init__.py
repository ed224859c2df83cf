"""History: reading the mainline from git, and answering from it."""
