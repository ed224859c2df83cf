"""`cm doctor`: does everything that cm stands on work here, is what it keeps whole, and how is it mended if not."""
