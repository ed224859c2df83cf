"""HEAD's first-parent commits, and which blob was at which path from when to when."""
