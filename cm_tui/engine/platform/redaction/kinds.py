"""The kinds of secrets in marks; a mark with another word is not ours."""

from __future__ import annotations

from cm_tui.engine.platform.redaction.pattern import Pattern

_KIND_LIST = """
    1password secret; age key; airtable token; alibaba access key; anthropic key; api key; artifactory key;
    atlassian token; aws access key; aws secret key; aws bedrock key; azure client secret; azure devops token; azure signature;
    azure storage key; bitbucket app password; braintree token; brevo key; buildkite token; circleci token; clojars
    token; cloudflare origin key; contentful token; cookie; crates.io token; credentials; databricks token;
    digitalocean token; discord bot token; discord webhook; docker token; doppler token; dropbox token; duffel
    token; dynatrace token; easypost key; encrypted token; facebook token; figma token; flutterwave key; fly.io
    token; github token; gitlab token; google access token; google api key; google client secret; google refresh
    token; grafana token; groq key; harness token; heroku key; hubspot token; hugging face token; infracost key;
    json web token; key; kubernetes secret; langsmith key; launchdarkly key; linear key; mailchimp key; mailgun key;
    mapbox token; netlify token; new relic key; notion token; npm token; nuget key; nvidia key; openai key;
    openshift token; password; perplexity key; pgp private key; pinecone key; planetscale token; postman key;
    prefect key; private key; pulumi token; putty private key; pypi token; razorpay key; readme key; render key;
    replicate token; rubygems key; secret; sendgrid key; sentry token; shippo token; shopify token; slack token;
    slack webhook; sonar token; sourcegraph token; square secret; square token; stripe key; supabase key; tailscale
    key; teams webhook; telegram bot token; tencent secret id; terraform token; token; twilio key; twitter bearer
    token; typeform token; vault token; vercel token; wireguard key; xai key; yandex key
"""
KINDS = tuple(" ".join(kind.split()) for kind in _KIND_LIST.split(";"))
_OPEN = "[redacted: "
DONE = Pattern(
    rf"\[redacted(?:: (?:{'|'.join(sorted(KINDS, key=len, reverse=True))}))?\]|\[redacted[a-z0-9 .:]{{0,40}}\Z"
)


def is_mark(value: str) -> bool:
    """Return whether a value begins with a mark, complete or cut off."""
    found = DONE.match(value)
    return found is not None and (found[0].endswith("]") or is_cut(found[0]))


def is_cut(value: str) -> bool:
    """Return whether a value is the beginning of a mark."""
    return any(f"{_OPEN}{kind}]".startswith(value) for kind in KINDS)
