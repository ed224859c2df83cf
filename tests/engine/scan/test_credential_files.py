"""Files that hold credentials, by their paths and by how they begin, and what only sounds like it."""

from __future__ import annotations

import pytest

from cm_tui.engine.code.scan.credential_files import has_credentials, is_credential_file

DASHES = "-" * 5
KEY = f"{DASHES}BEGIN OPENSSH PRIVATE KEY{DASHES}\nb3BlbnNzaC1rZXktdjEAAAAA\n"


@pytest.mark.parametrize(
    "path",
    [
        ".env", "deep/in/.env", ".ENV", ".env.production", ".env.local", ".env-prod", ".env.php", ".envrc", "prod.env",
        "docker/app.env", ".npmrc", "web/.npmrc", ".pypirc", ".netrc", "_netrc", ".htpasswd", ".pgpass", ".my.cnf", ".s3cfg",
        ".boto", ".dockercfg", ".vault-token", ".git-credentials", ".aws/credentials", "home/.aws/config", ".docker/config.json",
        ".kube/config", "kubeconfig", "staging.kubeconfig", "kubeconfig-prod.yaml", "credentials.json", "credentials",
        "config/credentials.yml.enc", "config/credentials/production.yml.enc", "secrets.yaml", "secret.yml", "Secrets.toml",
        "secrets.prod.json", "prod-secrets.yaml", ".streamlit/secrets.toml", ".claude/.credentials.json", ".codex/auth.json",
        "auth.json", ".composer/auth.json", "terraform.tfvars", "infra/prod.auto.tfvars.json", "terraform.tfstate",
        "terraform.tfstate.backup", "terraform.tfstate.1700000000.backup", "service-account.json",
        "my-project-service_account-key.json", "serviceAccountKey.json", "app-firebase-adminsdk-x1.json",
        "client_secret_1.apps.googleusercontent.com.json", ".config/gcloud/application_default_credentials.json",
        ".config/gh/hosts.yml", ".cargo/credentials.toml", ".cargo/credentials", ".gem/credentials", ".m2/settings.xml",
        "settings-security.xml", "wp-config.php", "master.key", "release.keystore", "a.jks", "a.p12", "a.pfx", "a.kdbx", "a.ovpn",
        "putty.ppk", "server.pem", "AuthKey.p8", "id_rsa", "id_ed25519", "id_ed25519_sk", "id_rsa_deploy", "id_rsa.old",
        ".ssh/work", ".ssh/keys/a", ".gnupg/secring.gpg", ".gnupg/private-keys-v1.d/AB.bin", "credentials.tfrc.json",
        "rootkey.csv", "me_accessKeys.csv", "passwords.txt", "api_key.txt", "fixtures/example.pem", ".auth/user.json",
    ],
)  # fmt: skip
def test_credential_files(path: str):
    assert is_credential_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "secrets.py", "credentials.go", "src/secrets.rs", "environment.ts", "env.py", "token.c", "docs/secrets.md", "env",
        "credentials.rst", "secret.ts", ".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults",
        ".env.local.example", ".env.schema", ".env.d.ts", "example.env", "terraform.tfvars.example", "secrets.example.yaml",
        "credentials.sample.json", "service-account.schema.json", "chart/templates/secrets.yaml", "chart/templates/a/secret.yml",
        "locales/en/credentials.json", "i18n/passwords.json", "schemas/secrets.json", "src/auth.json", "api/auth.json",
        ".ssh/config", ".ssh/known_hosts", ".ssh/id_rsa.pub", ".ssh/config.d/work", ".gnupg/gpg.conf", "id_rsa.pub",
        "id_rsa.go", "id_ecdsa_test.rs", "docker/config.json", "config.json", "kube/config", "aws/config", "settings.xml",
        "wp-config-sample.php", "keys.json", "passwd.c", ".yarnrc.yml", "pip.conf", ".gitconfig", "main.tf", "variables.tf",
        "ServiceAccountList.json", "external-secrets.yaml", "sealed-secrets.yaml", "tfvars", "password_reset.html", "netrc.py",
        "src/credentials/store.py", "cmd/gcloud/credentials.go", "templates/env.html", ".github/workflows/secrets.yml.md",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it(path: str):
    assert not is_credential_file(path)


@pytest.mark.parametrize(
    "content",
    [
        KEY,
        "\n\n" + KEY,
        "\ufeff" + KEY,
        f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\r\nProc-Type: 4,ENCRYPTED\r\n",
        f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n",
        f"{DASHES}BEGIN EC PRIVATE KEY{DASHES}\n",
        f"{DASHES}BEGIN PGP PRIVATE KEY BLOCK{DASHES}\n",
        f"Bag Attributes\n    friendlyName: me\nKey Attributes: <none>\n{DASHES}BEGIN PRIVATE KEY{DASHES}\n",
        "PuTTY-User-Key-" + "File-3: ssh-ed25519\n",
        "# created: 2024\n# public key: age1x\nAGE-SECRET-" + "KEY-1QQQQ\n",
        '{\n "type": "service_account",\n "project_id": "p",\n "private_key": "x"}',
        '{"client_id": "i", "refresh_token": "r", "type": "authorized_user"}',
        '{"installed":{"client_id":"i","client_secret":"s"}}',
        '{"http-basic": {"repo.example.org": {"username": "u", "password": "p"}}}',
        '{"auths": {"https://index.docker.io/v1/": {"auth": "dTpw"}}}',
        "apiVersion: v1\nclusters: []\nkind: Config\nusers:\n- name: a\n  user:\n    client-key-data: AAAA\n",
    ],
)
def test_content_that_is_credentials_whatever_its_name(content: str):
    assert has_credentials(content.encode())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "import os\n",
        f"# A key looks so:\n\n    {KEY}",
        f'# Test.\nKEY = """\n{KEY}"""\n',
        f"Read this.\n\n{KEY}",
        f"{DASHES}BEGIN CERTIFICATE{DASHES}\nMIIB\n",
        f"{DASHES}BEGIN PUBLIC KEY{DASHES}\nMIIB\n",
        f"{DASHES}BEGIN PGP PUBLIC KEY BLOCK{DASHES}\n",
        '{"type": "service_account_list", "items": []}',
        '{"type": "service_account", "name": "no key"}',
        '{"name": "vendor/app", "config": {"github-oauth": {}}}',
        '{"auths": {}}',
        "apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- name: a\n  user:\n    exec:\n      command: aws\n",
        "apiVersion: build.openshift.io/v1\nkind: BuildConfig\nusers:\n  token: x\n",
        "package a\n\nvar c = `\nkind: Config\nusers:\n- user:\n    token: x\n`\n",
    ],
)
def test_content_that_is_none(content: str):
    assert not has_credentials(content.encode())
