"""Which files there are, and which are left out, with the reason."""
