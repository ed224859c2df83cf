"""The shapes of definitions, as records; a JSON Schema of each is copied to the project."""
