"""Forms that name a secret without `=` or `:` between, and what looks like them and stays."""

from __future__ import annotations

import pytest

from cm_tui.engine.platform.redaction.redact import redact

WORD = "Winter" + "-qxt7791"
TOKEN = "h7Kp2mQ9" * 4
FORMS = (
    "        - name: DB_PASSWORD\n          value: {}\n",
    '{{"name": "API_TOKEN", "value": "{}"}}',
    "ENV DB_PASSWORD {}\n",
    "setenv API_TOKEN {}",
    "set -gx API_TOKEN {}",
    "setx DB_PASSWORD {}",
    "aws configure set aws_secret_access_key {}",
    "gh secret set DEPLOY_TOKEN --body {}",
    "npm config set //registry.example.org/:_authToken {}",
    "CREATE USER 'shop'@'%' IDENTIFIED BY '{}';",
    "ALTER USER shop WITH PASSWORD '{}';",
    "SET PASSWORD FOR 'bob'@'%' = PASSWORD('{}');",
    "requirepass {}\n",
    "127.0.0.1:6379> AUTH {}",
    "os.getenv('API_TOKEN', '{}')",
    "'password' => env('DB_PASSWORD', '{}'),",
    "const pw = process.env.DB_PASSWORD || '{}'",
    "DB_PASSWORD=${{DB_PASSWORD:-{}}}",
    "define('DB_PASSWORD', '{}');",
    '#define WIFI_PASSWORD "{}"',
    'char password[] = "{}";',
    'let password: &str = "{}";',
    "| Password | `{}` |\n",
    "**Password:** `{}`\n",
    "<td>Password</td><td>{}</td>",
    "<key>API_TOKEN</key>\n<string>{}</string>",
    "requests.get(url, auth=('bob', '{}'))",
    'sql.Open("mysql", "app:{}@tcp(127.0.0.1:3306)/db")',
    "db.host:5432:shop:app:{}\n",
    "postgres://app:p@{}@db:5432/x",
    '  ~ master_password = "old" -> "{}"\n',
    "api_token = <<EOT\n{}\nEOT\n",
    '{{"db_password": {{"sensitive": true, "type": "string", "value": "{}"}}}}',
    "password: !!str {}\n",
    "password: &pw {}\n",
    '{{"apiVersion":"v1","data":{{"conf":"{}"}},"kind":"Secret"}}',
    "::add-mask::{}",
)


@pytest.mark.parametrize("secret", [WORD, TOKEN])
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_in_a_form_that_names_it_leaves(form: str, secret: str):
    text = form.format(secret)
    clean = redact(text)
    assert secret not in clean.text
    assert clean.text.count("\n") == text.count("\n")
    assert redact(clean.text) == (clean.text, 0)


def test_the_secret_beside_an_aws_key_leaves():
    secret = "x40EpBfWxXIQtUvCSYN+" + "OyuYbawnF6GTmWrG1jQ4"
    assert secret not in redact("Access key ID,Secret access key\n" + "AKIA" + "ABCDEFGHIJKLMNOP," + secret).text


@pytest.mark.parametrize(
    "text",
    [
        "'password' => 'required|min:8|confirmed',",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "export OPENAI=sk-" + "x" * 24,
        "auth = HTTPBasicAuth1",
        "find . -name '*mysql*' -print",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db1, key: p1}\n",
        '{"name": "password", "value": "changeme"}',
        "ENV PASSWORD_FILE /run/secrets/db1",
        "os.getenv('API_TOKEN', 'changeme')",
        "DB_PASSWORD=${DB_PASSWORD:-changeme}",
        "| Password | required |\n| Token | string |\n",
        "**Password:** your password\n",
        "<td>Password</td><td>required</td>",
        "auth=('user', 'password')",
        "tests/test_pass.py:5432:12:a",
        "IDENTIFIED BY '<password>'",
        "let token: &str = name;",
    ],
)
def test_what_looks_like_a_form_stays(text: str):
    assert redact(text) == (text, 0)
