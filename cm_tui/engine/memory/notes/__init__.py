"""Notes: Markdown files of the user, of the project and of each day; read, searched, changed, and watched."""
