"""The narrator: what sessions teach, found in episodes and proposed to a person."""
