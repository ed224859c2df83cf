"""Context: what an agent receives for a prompt, from which sources, and why."""
