"""Files that people edit with other programs at the same time: what they said last, so that nobody's lines are lost."""
