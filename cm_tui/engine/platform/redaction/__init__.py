"""Redaction: secrets are removed from a text before it is stored, leaves the machine or enters a chat."""
