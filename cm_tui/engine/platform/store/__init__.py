"""The database, its migrations, bulk writing, and the writer lock."""
