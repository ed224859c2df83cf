"""What looks like a secret in what is stored, found; events and all that was made from them, erased."""
