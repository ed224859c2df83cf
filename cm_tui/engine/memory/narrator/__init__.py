"""The narrator: lessons of sessions, found in episodes and proposed to the user."""
