"""Questions with known lines, made from a repository's own history, comments, tests and names."""
