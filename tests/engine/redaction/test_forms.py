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
    "postgres://app:p@{}@db.internal/x",
    "mongodb+srv://app:{}@p@db.example.com/?w=1",
    "redis://:p@{}@cache",
    '  ~ master_password = "old" -> "{}"\n',
    "api_token = <<EOT\n{}\nEOT\n",
    '{{"db_password": {{"sensitive": true, "type": "string", "value": "{}"}}}}',
    "password: !!str {}\n",
    "password: &pw {}\n",
    '{{"apiVersion":"v1","data":{{"conf":"{}"}},"kind":"Secret"}}',
    "::add-mask::{}",
    "DB_PW={}",
    "pw: {}",
    'psk="{}"',
    "contraseña: {}",
    "mot de passe : {}",
    "Senha: {}",
    "пароль: {}",
    "密码：{}",
    "パスワード: {}",
    "keytool -list -storepass {} -keystore a.jks",
    "unzip -P {} a.zip",
    "sqlplus scott/{}@db",
    "net use X: \\\\h\\s /user:ada {}",
    "nmcli dev wifi connect Home password {}",
    'echo "{}" | wrangler secret put DEPLOY',
    'gh secret set DEPLOY --body "{}"',
    "kubectl create secret generic db --from-literal=conf={}",
)


@pytest.mark.parametrize("secret", [WORD, TOKEN])
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_in_a_form_that_names_it_leaves(form: str, secret: str):
    text = form.format(secret)
    clean = redact(text)
    assert secret not in clean.text
    assert clean.text.count("\n") == text.count("\n")
    assert redact(clean.text) == (clean.text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "curl -b 'session={}' https://example.org",
        "https://shop.azurewebsites.net/api/f?code={}==",
        "https://maps.example.org/js?v=3&key={}",
        "aeg-sas-key: {}=",
        "https://b.s3.amazonaws.com/k?X-Amz-Signature={}",
    ],
)
def test_a_random_value_in_an_address_or_a_cookie_leaves(text: str):
    secret = "0f3a9c" * 11 if "Signature" in text else TOKEN
    assert secret[:30] not in redact(text.format(secret)).text


def test_the_words_of_a_wallet_leave():
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    assert "sausage" not in redact(f'MNEMONIC="{words}"').text
    assert "sausage" not in redact(f"seed phrase: {words}\n").text
    assert redact("seed phrase: ask the team").secrets == 0


ALNUM = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC" * 3
HEX = "0a1b2c3d4e5f6978" * 4
UUID = "0a1b2c3d-4e5f-6978-8a9b-0c1d2e3f4a5b"
SHAPED = (
    "IQoJb3JpZ2lu" + ALNUM + ALNUM, ALNUM[:52] + "JQQJ99" + "BACYeBjFXJ3w3AAABACOG7k2mQ", "AQ." + "Ab8RN6" + ALNUM[:44],
    "cfut_" + ALNUM[:48], "vercel_blob_rw_" + ALNUM[:16] + "_" + ALNUM[:30], "napi_" + HEX, "prod:happy-otter-123|" + ALNUM[:60],
    "mdb_sa_sk_" + ALNUM[:40], "ddp_" + ALNUM[:36], "st." + "65" + HEX[:22] + "." + HEX[:32] + "." + HEX[:32],
    "snyk_uat." + HEX[:8] + "." + ALNUM[:50], "perm-" + "YWRh.VG9rZW4=." + ALNUM[:30], "key_" + HEX, "tgp_v1_" + ALNUM[:43],
    "csk-" + ALNUM[:48].lower(), "sk_" + HEX[:48], "tvly-dev-" + ALNUM[:32], "fc-" + HEX[:32], "jina_" + HEX[:32] + ALNUM[:28],
    "pa-" + ALNUM[:43], "wandb_v1_" + ALNUM[:77], "fw_" + ALNUM[:24], "e2b_" + HEX[:40], "bb_live_" + ALNUM[:27],
    "apify_api_" + ALNUM[:36], "sk-" + "lettersonly" * 4 + "abcd", "ctx7sk-" + UUID, "re_" + ALNUM[:8] + "_" + ALNUM[:24],
    "https://hooks.zapier.com/hooks/catch/1234567/" + "abc123x", "https://hook.eu1.make.com/" + ALNUM[:32].lower(),
    "2/" + "1" * 16 + "/" + "2" * 16 + ":" + HEX[:32], "pk_" + "12345678_" + ALNUM[:32].upper(), "access-production-" + UUID,
    "pdl_live_apikey_" + "01" + ALNUM[:24].lower() + "_" + ALNUM[:22] + "_a1B", "polar_oat_" + ALNUM[:43], "phx_" + ALNUM[:43],
    "hcaik_01" + ALNUM[:56].lower(), "xaat-" + UUID, "pylf_v1_us_" + ALNUM[:43], "ory_at_" + ALNUM[:43] + "." + ALNUM[:43],
    "signkey-prod-" + HEX, "tr_prod_" + ALNUM[:24], "xoxc-" + "12345678901-" * 3 + HEX, "xoxd-" + ALNUM[:80] + "%2B", "figu_" + ALNUM[:40],
    "ghs_" + "123456_eyJ" + ALNUM[:30] + ".eyJ" + ALNUM[:60] + "." + ALNUM[:43],
)  # fmt: skip


@pytest.mark.parametrize("secret", SHAPED, ids=lambda secret: secret[:8])
def test_a_key_of_a_known_shape_leaves_without_a_name(secret: str):
    clean = redact(f"please use {secret} for that, thanks")
    assert secret[-12:] not in clean.text
    assert clean.text.startswith("please use ")
    assert clean.text.endswith("for that, thanks")
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
