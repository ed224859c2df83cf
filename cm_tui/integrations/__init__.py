"""Parts put into other programs' files: agents' settings, git hooks, autostart."""
