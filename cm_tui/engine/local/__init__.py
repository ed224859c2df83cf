"""The engine that goes straight to a project's store, one class a room."""
