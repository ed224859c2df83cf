"""`cm doctor`: checks of the installation and the stored data, with repairs."""
