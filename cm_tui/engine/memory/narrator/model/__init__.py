"""The optional language model: better wordings and a second look, but never new facts."""
