"""Recording rules: pauses, sessions and folders that are never recorded, and files changed in a pause."""
