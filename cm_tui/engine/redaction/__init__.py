"""Redaction: secrets are taken out of a text before it is stored, leaves the machine or enters a chat."""
