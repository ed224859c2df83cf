"""Git, store, journal and redaction: the base of the other layers."""
