"""Patterns of the library detect-secrets: those of its detectors that are reliable on any text.

Excluded, with the reason: its entropy and keyword detectors (every hash and every label is a hit); Artifactory (`AP`
and ten letters are a word), NPM, JWT, IBM, SoftLayer and Cloudant (time grows with the square of the text or faster:
`.+`, or spaces that three parts of a pattern can each take); basic auth (stops at signs that passwords have); private
key (takes the first line and leaves the key); Telegram, Twilio and Discord (without an edge, and nothing rare to look
for first: hashes hit). For these the tables of this room have patterns of their own.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

SOURCE = "https://github.com/Yelp/detect-secrets"


class Detector(NamedTuple):
    """One detector of the library."""

    kind: str
    words: tuple[str, ...]
    """One of them is in every text that it would hit: the library takes longer to import than a hook may take."""
    module: str
    name: str
    before: str = r"(?<![A-Za-z0-9])"
    """Characters that must not precede a hit."""
    after: str = r"[\w-]*+"
    """Characters after a hit that belong to it."""
    is_short: bool = False
    """Whether it may be shorter than `SHORTEST` of the shapes."""


DETECTORS: tuple[Detector, ...] = (
    Detector("aws access key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), "aws", "AWSKeyDetector", after=r"(?![A-Za-z0-9])"),
    Detector("azure storage key", ("AccountKey=",), "azure_storage_key", "AzureStorageKeyDetector", after="=*+"),
    Detector("github token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "github_token", "GitHubTokenDetector"),
    Detector("gitlab token", ("gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glimt-"), "gitlab_token", "GitLabTokenDetector"),
    Detector("mailchimp key", tuple(f"-us{digit}" for digit in range(1, 10)), "mailchimp", "MailchimpDetector", after=r"(?!\w)"),
    Detector("openai key", ("T3BlbkFJ",), "openai", "OpenAIDetector", before=r"(?<![\w-])"),
    Detector("sendgrid key", ("SG.",), "sendgrid", "SendGridDetector", before=r"(?<![\w.])"),
    Detector("square secret", ("sq0csp-",), "square_oauth", "SquareOAuthDetector"),
    Detector("stripe key", ("sk_live_", "rk_live_"), "stripe", "StripeDetector"),
    Detector("slack token", ("xoxa-", "xoxb-", "xoxp-", "xoxo-", "xoxs-", "xoxr-"), "slack", "SlackDetector", is_short=True),
)  # fmt: skip
"""Only the first pattern of each is taken where it has several, but for GitLab, whose seven are all of one form."""

_ALL = frozenset({"gitlab_token"})


@cache
def patterns_of(detector: Detector) -> tuple[str, ...]:
    """Return a detector's patterns with boundaries, which the library lacks; imports the library."""
    from importlib import import_module

    found = getattr(import_module(f"detect_secrets.plugins.{detector.module}"), detector.name).denylist
    taken = found if detector.module in _ALL else found[:1]
    return tuple(
        f"{detector.before}{'(?i:' if one.flags & 2 else '(?:'}{one.pattern}){detector.after}" for one in taken
    )
