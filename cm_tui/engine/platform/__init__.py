"""Git, store, journal and redaction: what the other layers stand on."""
