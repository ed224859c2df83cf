"""Secrets for tests, put together here so that no scanner takes these files for a leak."""

from __future__ import annotations

AWS = "AKIA" + "Q7RZ2MXW9LTB4KVN"
GITHUB = "ghp_" + "9fK2mQ7xVb4LsT8wZc3RjY6nHd1PgE5uAo0B"
PASSWORD = "Tr0ub4dor" + "and3horses"
BODY = tuple(f"{number:02}MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ" + "x" * 12 for number in range(99))
"""Lines of a private key that is longer than any passage."""
KEY = "\n".join(("-----BEGIN " + "PRIVATE KEY-----", *BODY, "-----END " + "PRIVATE KEY-----"))
ALL = (AWS, GITHUB, PASSWORD, *BODY)


def leaked(text: str) -> list[str]:
    """Return which of the secrets a text holds, also when they were cut."""
    return [secret for secret in ALL if secret[:14] in text]
