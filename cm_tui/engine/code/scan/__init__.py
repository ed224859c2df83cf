"""Which files there are, and which are excluded, with the reason."""
