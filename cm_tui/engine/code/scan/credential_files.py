"""Files with credentials and little else: by path, and by the beginning of their content."""

from __future__ import annotations

import re

CREDENTIALS = "credentials"
"""The reason that is shown for such a file."""

# The whole name in lower case, wherever the file lies.
_NAMES = frozenset(
    {
        ".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", "htpasswd",
        ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".passwd-s3fs", ".boto", ".dockercfg",
        ".dockerconfigjson", ".vault-token", ".vault_pass", ".vault-pass", ".vault_password", "vault_pass.txt",
        ".msmtprc", ".fetchmailrc", ".databrickscfg", ".sentryclirc", ".terraformrc", "terraform.rc",
        "credentials.tfrc.json", "settings-security.xml", "kubeconfig", "rclone.conf", "ngrok.yml", "kaggle.json",
        "sftp-config.json", ".ftpconfig", ".remote-sync.json", "application_default_credentials.json", "rootkey.csv",
        "wp-config.php", "credentials", ".credentials",
    }
)  # fmt: skip

# Keys, certificates, key stores, tunnels, and what Terraform remembers.
_SUFFIX = re.compile(
    r".*\.(?:pem|key|ppk|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|kdbx|crt|cer|der|ovpn|kubeconfig|"
    r"tfstate(?:\.\d+)?(?:\.backup)?)"
)
_DATA = r"(?:json|ya?ml|toml|ini|cfg|conf|properties|xml|txt|csv|env|edn)"
_STAGE = r"(?:prod|production|stag(?:e|ing)|dev|devel|development|test|testing|qa|uat|live|local|private|ci)"
_NAME = re.compile(
    rf"""
      id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[-_][\w-]+)?(?:\.(?:old|bak|backup))?
    | (?:(?:{_STAGE}|app|api)[-_.])?\.?(?:secret|credential|password|api[-_]?key)s?(?:[-_.]{_STAGE})?\.{_DATA}(?:\.enc)?
    | client[-_]?secrets?(?:[-_.].*)?\.json | (?:.+_)?accesskeys\.csv | .*firebase-adminsdk.*\.json
    | (?:.*[-_.])?service[-_]?account(?:[-_.]?(?:keys?|files?|creds?|credentials?|{_STAGE}))*\.json
    | kubeconfig(?:[-_.][\w.-]*)?\.(?:ya?ml|json|conf)
    """,
    re.VERBOSE,
)
# Settings of an environment: `.env`, `.env.production`, `.envrc`, `prod.env`, and Terraform's variables.
_SETTINGS = re.compile(r"\.env(?:rc)?(?:[-_.].*)?|.*\.env|.*\.tfvars(?:\.json)?")
_SOURCE = frozenset(
    {
        "py", "pyi", "js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx", "go", "rs", "java", "kt", "scala", "c", "h", "cc",
        "cpp", "hpp", "cs", "rb", "swift", "md", "rst", "adoc", "html", "css",
    }
)  # fmt: skip
"""Suffixes of source and of prose: no name makes credentials of these."""
_EXAMPLE = re.compile(
    r"(?:^|[-_.])(?:examples?|samples?|templates?|tmpl|tpl|dist|defaults?|schema|skeleton|stub)(?=[-_.]|$)"
)

# The end of the whole path, in lower case: names that are specific only within their folder.
_PATH = re.compile(
    r"""(?:^|/)(?:
        \.aws/(?:credentials|config|(?:sso|cli)/cache/[^/]+)
      | \.azure/(?:accesstokens|msal_token_cache|service_principal_entries)[^/]*
      | \.config/gcloud/(?:.*/)?(?:[^/]*credentials?[^/]*|access_tokens\.db|adc\.json)
      | \.config/(?:gh/hosts\.yml|hub|glab-cli/config\.yml|doctl/config\.yaml)
      | \.kube/config | \.docker/config\.json | \.cargo/credentials(?:\.toml)? | \.gem/credentials
      | \.m2/settings\.xml | \.dbt/profiles\.yml | \.snowsql/config | \.vscode/sftp\.json
      | (?:\.huggingface|\.cache/huggingface)/token | config/credentials/[^/]+\.yml\.enc
      | \.[^/]+/auth\.json | (?:composer|containers)/auth\.json | \.auth/[^/]+\.json
      | \.ssh/(?!config\.d/|(?:.*/)?(?:[^/]*\.pub|config|known_hosts[^/]*|authorized_keys[^/]*|readme[^/]*|\.git[a-z]+)$).+
      | \.gnupg/(?!(?:.*/)?(?:[^/]*\.conf|readme[^/]*|\.git[a-z]+)$).+
    )$""",
    re.VERBOSE,
)
_AT_THE_ROOT = frozenset({"auth.json"})
"""Composer's, at the top of a project; elsewhere a file of that name is as often a translation or an answer of an API."""
_HARMLESS = re.compile(
    r"(?:^|/)(?:(?:locales?|i18n|l10n|langs?|languages?|translations|schemas?)/.*\.(?:json|ya?ml)|templates/.*\.ya?ml)$"
)
"""Translations, schemas, and templates of Helm charts: they mention secrets, but do not contain them."""

_HEAD_BYTES = 4_096
_KEY = re.compile(
    rb"\s*+(?:#[^\n]*+[\r\n]++)*(?:Bag Attributes\b.{0,2000}?^)?"
    rb"(?:-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
    rb"|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-(?:PQ-)?1)",
    re.DOTALL | re.MULTILINE,
)
_JSON_KEYS = re.compile(
    rb'"type"\s*:\s*"(?:service_account|authorized_user|external_account_authorized_user)"'
    rb'|\A\s*\{\s*"(?:installed|web)"\s*:\s*\{[^}]*"client_secret"\s*:'
    rb'|\A\s*\{\s*"(?:http-basic|github-oauth|gitlab-oauth|gitlab-token|bitbucket-oauth|bearer)"\s*:'
    rb'|\A\s*\{\s*"auths"\s*:\s*\{[^{}]*\{[^}]*"auth"\s*:'
)
_JSON_SECRET = re.compile(rb'"(?:private_key|refresh_token|client_secret|auth)"\s*:|-basic"|-oauth"|-token"|"bearer"')
_KUBECONFIG = re.compile(
    rb"\A(?:\s++|#[^\n]*+|---)*(?:apiVersion|kind|clusters|contexts|current-context|preferences|users):"
    rb"(?s:.*?)(?m:^kind:[ \t]*[\"']?Config[\"']?[ \t]*\r?$)"
)
_KUBE_SECRET = re.compile(rb"^[\s-]*(?:client-key-data|token|password):", re.MULTILINE)


def is_credential_file(path: str) -> bool:
    """Return whether a file holds credentials and little else, by its path alone.

    Never source code (`secrets.py`, `credentials.go`), examples (`.env.example`), public keys, and templates of Helm
    charts. `path`: below the project's root, with `/`; case is ignored.
    """
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    if name.rpartition(".")[2] in _SOURCE:
        return False
    # A file with a key counts, even if it is an example.
    if _SUFFIX.fullmatch(name) or _PATH.search(lowered):
        return True
    if _EXAMPLE.search(name):
        return False
    if name in _NAMES or lowered in _AT_THE_ROOT or _SETTINGS.fullmatch(name):
        return True
    return _NAME.fullmatch(name) is not None and not _HARMLESS.search(lowered)


def has_credentials(data: bytes) -> bool:
    """Return whether content begins like a private key, or is a key file of a cloud or a cluster.

    The first bytes rule out most content. A private key in the midst of source or prose does not count: outgoing data
    is filtered anyway. `data`: the whole content.
    """
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if _KEY.match(head):
        return True
    first = head.lstrip()[:1]
    if first == b"{":
        return _JSON_KEYS.search(head) is not None and _JSON_SECRET.search(data[: 4 * _HEAD_BYTES]) is not None
    if b"Config" in data and _KUBECONFIG.match(data[: 16 * _HEAD_BYTES]):
        return _KUBE_SECRET.search(data) is not None
    return False
