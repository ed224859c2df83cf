"""The table of secrets with a distinctive shape: name, pattern, and the page that documents it."""

from __future__ import annotations

from typing import NamedTuple

SHORTEST = 15
"""Least length of a word, without any space, with a distinctive secret."""


class Shape(NamedTuple):
    """One kind of secret that is recognised by its shape alone.

    A pattern begins where no character of its kind precedes, and its repetitions are possessive or bounded: the time is
    linear in the length of the text.
    """

    kind: str
    """The kind in `[redacted: …]`."""
    words: tuple[str, ...]
    """One of them is in every text that has such a secret; the pattern is compiled only then."""
    pattern: str
    """A regular expression; its group `value`, where it has one, is what leaves."""
    source: str
    """Address of the page that describes the shape."""
    is_short: bool = False
    """Whether it may be shorter than `SHORTEST`, or reach over a space."""


_B, _E = r"(?<![\w-])", r"(?<![A-Za-z0-9])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

SHAPES: tuple[Shape, ...] = (
    # --- clouds and hosting ---
    Shape("aws access key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), _E + r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])", "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids"),
    Shape("aws bedrock key", ("ABSK",), _B + r"ABSK[A-Za-z0-9+/]{60,}+=*+", "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html"),
    Shape("azure storage key", ("AccountKey=",), _E + r"AccountKey=[a-zA-Z0-9+/=]{88,}+", "https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string"),
    Shape("azure client secret", ("Q~",), r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])", "https://learn.microsoft.com/en-us/purview/sit-defn-azure-ad-client-secret"),
    Shape("azure signature", ("sig=",), r"(?<=[?&]sig=)(?:[A-Za-z0-9+/]|%2[BbFf]){40,}(?:=|%3[Dd])*", "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas"),
    Shape("azure devops token", ("AZDO",), r"(?<!\w)[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?!\w)", "https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate"),
    Shape("google api key", ("AIza",), r"(?<!\w)AIza[\w-]{35,}+", "https://cloud.google.com/docs/authentication/api-keys"),
    Shape("google access token", ("ya29.",), r"(?<!\w)ya29\.[\w.-]{20,}+", "https://developers.google.com/identity/protocols/oauth2"),
    Shape("google refresh token", ("1//",), r"(?<![\w/:.])1//0[\w-]{40,}+", "https://developers.google.com/identity/protocols/oauth2"),
    Shape("google client secret", ("GOCSPX-",), _B + r"GOCSPX-[\w-]{20,}+", "https://support.google.com/googleapi/answer/6158862"),
    Shape("alibaba access key", ("LTAI",), r"(?<!\w)LTAI[A-Za-z0-9]{12,30}+(?!\w)", "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair"),
    Shape("tencent secret id", ("AKID",), r"(?<!\w)AKID[A-Za-z0-9]{32}(?!\w)", "https://www.tencentcloud.com/document/product/598/32675"),
    Shape("digitalocean token", ("_v1_",), r"(?<!\w)do[opr]_v1_[a-f0-9]{40,}+", "https://docs.digitalocean.com/reference/api/create-personal-access-token/"),
    Shape("heroku key", ("HRKU-",), _B + r"HRKU-[\w-]{36,}+", "https://devcenter.heroku.com/articles/authentication"),
    Shape("fly.io token", ("fo1_", "fm1", "fm2_"), r"(?<!\w)(?:fo1_[\w-]{40,}+|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}+=*+)", "https://fly.io/docs/security/tokens/"),
    Shape("netlify token", ("nf",), r"(?<!\w)nf[pcoub]_[A-Za-z0-9]{36,}+", "https://docs.netlify.com/api/get-started/"),
    Shape("vercel token", ("vc",), r"(?<!\w)vc[pikar]_[A-Za-z0-9]{24,}+", "https://vercel.com/docs/rest-api"),
    Shape("render key", ("rnd_",), r"(?<!\w)rnd_[A-Za-z0-9]{28,}+", "https://render.com/docs/api"),
    Shape("supabase key", ("sbp_", "sb_secret_"), r"(?<!\w)(?:sbp_[a-f0-9]{40,}+|sb_secret_[\w-]{20,}+)", "https://supabase.com/docs/guides/api/api-keys"),
    Shape("planetscale token", ("pscale_",), r"(?<!\w)pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}+", "https://planetscale.com/docs/api/reference/service-tokens"),
    Shape("databricks token", ("dapi",), r"(?<!\w)dapi[a-f0-9]{32}(?:-\d)?(?!\w)", "https://docs.databricks.com/en/dev-tools/auth/pat.html"),
    Shape("cloudflare origin key", ("v1.0-",), _B + r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}+", "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/"),
    Shape("openshift token", ("sha256~",), r"(?<!\w)sha256~[\w-]{43}(?![\w-])", "https://docs.openshift.com/container-platform/latest/authentication/understanding-authentication.html"),
    Shape("tailscale key", ("tskey-",), _B + r"tskey-[a-z]{2,16}-[\w-]{16,}+", "https://tailscale.com/kb/1085/auth-keys"),
    Shape("vault token", ("hvs.", "hvb.", "hvr."), r"(?<![\w.-])hv[sbr]\.[\w-]{20,}+", "https://developer.hashicorp.com/vault/docs/concepts/tokens"),
    Shape("terraform token", (".atlasv1.",), r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}+", "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens"),
    Shape("pulumi token", ("pul-",), _B + r"pul-[a-f0-9]{40}(?!\w)", "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/"),
    Shape("doppler token", ("dp.",), r"(?<![\w.])dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,}+", "https://docs.doppler.com/reference/auth-token-formats"),
    Shape("1password secret", ("ops_eyJ", "A3-"), r"(?<![\w-])(?:ops_eyJ[A-Za-z0-9+/]{60,}+=*+|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})(?![\w-])", "https://support.1password.com/secret-key/"),
    # --- code, packages, builds ---
    Shape("github token", ("github_pat_", "gh"), _E + r"(?:github_pat_\w{22,}+|gh[pousr]_(?:\w{36,}+[\w-]*+|[A-Za-z0-9]{20,}+))", "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github"),
    Shape("gitlab token", ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glffct-", "glcbt-", "glptt-", "glagent-", "gloas-", "glimt-", "GR1348941"), _E + r"(?:gl(?:pat|dt|ft|soat|rt|ffct|ptt|agent|oas|imt)-|glcbt-(?:[0-9a-zA-Z]{1,5}_)?|GR1348941)[\w-]{20,}+(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?", "https://docs.gitlab.com/security/tokens/"),
    Shape("bitbucket app password", ("ATBB",), r"(?<!\w)ATBB[A-Za-z0-9]{24,}+", "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/"),
    Shape("atlassian token", ("ATATT3", "ATCTT3"), r"(?<!\w)AT[AC]TT3[\w=-]{60,}+", "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/"),
    Shape("npm token", ("npm_",), r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)", "https://docs.npmjs.com/about-access-tokens"),
    Shape("pypi token", ("pypi-",), _B + r"pypi-[\w-]{50,}+", "https://docs.pypi.org/project-management/"),
    Shape("rubygems key", ("rubygems_",), r"(?<!\w)rubygems_[a-f0-9]{48}(?!\w)", "https://guides.rubygems.org/api-key-scopes/"),
    Shape("crates.io token", ("cio",), r"(?<!\w)cio[A-Za-z0-9]{32}(?!\w)", "https://doc.rust-lang.org/cargo/reference/publishing.html"),
    Shape("nuget key", ("oy2",), r"(?<!\w)oy2[a-z0-9]{43}(?!\w)", "https://learn.microsoft.com/en-us/nuget/nuget-org/scoped-api-keys"),
    Shape("clojars token", ("CLOJARS_",), r"(?<!\w)CLOJARS_[a-z0-9]{60}(?!\w)", "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens"),
    Shape("docker token", ("dckr_",), r"(?<!\w)dckr_[po]at_[\w-]{20,}+", "https://docs.docker.com/security/access-tokens/"),
    Shape("artifactory key", ("AKCp", "cmVmd"), r"(?<!\w)(?:AKCp[A-Za-z0-9]{60,}+|cmVmdGtuO[A-Za-z0-9]{50,}+)", "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens"),
    Shape("sonar token", ("sq",), r"(?<!\w)sq[upa]_[a-f0-9]{40}(?!\w)", "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/"),
    Shape("circleci token", ("CCI",), r"(?<!\w)CCI(?:PAT|PRJ)_[A-Za-z0-9]{10,}+_[a-f0-9]{40}(?!\w)", "https://circleci.com/docs/managing-api-tokens/"),
    Shape("buildkite token", ("bk",), r"(?<!\w)bk(?:ua|at|ct|aj|pt)_[a-zA-Z0-9]{40,}+", "https://buildkite.com/docs/apis/managing-api-tokens"),
    Shape("sourcegraph token", ("sgp_",), r"(?<!\w)sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}(?!\w)", "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token"),
    Shape("postman key", ("PMAK-",), _B + r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}(?!\w)", "https://learning.postman.com/docs/developer/postman-api/authentication/"),
    Shape("harness token", ("pat.", "sat."), r"(?<![\w.])[ps]at\.[\w-]{22}\.[a-zA-Z0-9]{24}\.[a-zA-Z0-9]{20}(?!\w)", "https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/"),
    Shape("launchdarkly key", ("sdk-", "api-"), _B + r"(?:sdk|api)-" + _UUID + r"(?![\w-])", "https://launchdarkly.com/docs/sdk/concepts/client-side-server-side"),
    # --- models ---
    Shape("anthropic key", ("sk-ant-",), _B + r"sk-ant-[\w-]{20,}+", "https://docs.anthropic.com/en/api/overview"),
    Shape("api key", ("sk-",), r"(?<![\w./-])sk-(?=[\w-]{0,200}?\d|proj-)(?=(?P<words>(?:[a-z]{2,8}[0-9]{0,2}-)*))(?P=words)[\w-]{16,}+", "https://platform.openai.com/docs/api-reference/authentication"),
    Shape("hugging face token", ("hf_", "api_org_"), r"(?<!\w)(?:hf|api_org)_[A-Za-z0-9]{30,}+(?!\w)", "https://huggingface.co/docs/hub/security-tokens"),
    Shape("openai key", ("T3BlbkFJ",), _B + r"sk-[\w-]{0,200}[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}[\w-]*+", "https://platform.openai.com/docs/api-reference/authentication"),
    Shape("perplexity key", ("pplx-",), _B + r"pplx-[A-Za-z0-9]{40,}+", "https://docs.perplexity.ai/getting-started/quickstart"),
    Shape("groq key", ("gsk_",), r"(?<!\w)gsk_[A-Za-z0-9]{40,}+", "https://console.groq.com/docs/quickstart"),
    Shape("replicate token", ("r8_",), r"(?<!\w)r8_[A-Za-z0-9]{37,}+", "https://replicate.com/docs/topics/security/api-tokens"),
    Shape("xai key", ("xai-",), _B + r"xai-[A-Za-z0-9]{60,}+", "https://docs.x.ai/docs/tutorial"),
    Shape("nvidia key", ("nvapi-",), _B + r"nvapi-[\w-]{40,}+", "https://docs.nvidia.com/nim/large-language-models/latest/getting-started.html"),
    Shape("langsmith key", ("lsv2_",), r"(?<!\w)lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}(?!\w)", "https://docs.smith.langchain.com/administration/how_to_guides/organization_management/create_account_api_key"),
    Shape("pinecone key", ("pcsk_",), r"(?<!\w)pcsk_[A-Za-z0-9_]{40,}+", "https://docs.pinecone.io/guides/projects/manage-api-keys"),
    # --- people and messages ---
    Shape("slack token", ("xox", "xapp-"), _B + r"(?:xox[abeoprs]|xapp)(?:-|\.xox[bp]-)(?=[\w-]{0,40}?\d)[\w-]{10,}+", "https://docs.slack.dev/authentication/tokens"),
    Shape("slack token", ("xoxa-", "xoxb-", "xoxp-", "xoxo-", "xoxs-", "xoxr-"), _E + r"(?i:xox[abposr]-(?:\d++-)+[a-z0-9])[\w-]*+", "https://docs.slack.dev/authentication/tokens", is_short=True),
    Shape("slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?P<value>(?:services|workflows|triggers)/[A-Za-z0-9]{4,}+/[A-Za-z0-9/+]{20,}+)", "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks"),
    Shape("discord bot token", (".",), r"(?<![\w.-])[MNO][A-Za-z0-9]{5}[\w-]{17,21}\.[\w-]{6}\.[\w-]{27,50}+(?![\w.-])", "https://discord.com/developers/docs/reference#authentication"),
    Shape("discord webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(?P<value>\d{15,21}/[\w-]{50,}+)", "https://discord.com/developers/docs/resources/webhook"),
    Shape("telegram bot token", (":AA",), r"(?:(?<![\w-])|(?<=/bot))\d{8,10}:(?=[\w-]{0,34}[A-Z_-])AA[\w-]{32,33}(?![\w-])", "https://core.telegram.org/bots/api#authorizing-your-bot"),
    Shape("teams webhook", ("webhook.office.com/",), r"webhook\.office\.com/(?P<value>webhookb2/[\w@-]{36,}+/IncomingWebhook/[\w/-]{32,}+)", "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook"),
    Shape("twilio key", ("SK", "AC"), r"(?<!\w)(?:SK|AC)[0-9a-f]{32}(?!\w)", "https://www.twilio.com/docs/iam/api-keys"),
    Shape("mailchimp key", ("-us",), _E + r"[0-9a-z]{32}-us[0-9]{1,2}(?!\w)", "https://mailchimp.com/developer/marketing/guides/quick-start/"),
    Shape("sendgrid key", ("SG.",), r"(?<![\w.])SG\.[\w-]{22}\.[\w-]{43,}+", "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys"),
    Shape("mailgun key", ("key-",), _B + r"(?:key|pubkey)-[0-9a-f]{32}(?![\w-])", "https://documentation.mailgun.com/docs/mailgun/api-reference/authentication/"),
    Shape("brevo key", ("xkeysib-", "xsmtpsib-"), _B + r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}(?!\w)", "https://developers.brevo.com/docs/getting-started"),
    Shape("linear key", ("lin_",), r"(?<!\w)lin_(?:api|oauth)_[A-Za-z0-9]{32,}+", "https://linear.app/developers/graphql"),
    Shape("notion token", ("ntn_", "secret_"), r"(?<!\w)(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_(?=[A-Z]{0,20}[a-z0-9])[A-Za-z0-9]{43})(?!\w)", "https://developers.notion.com/docs/authorization"),
    Shape("airtable token", ("pat",), r"(?<!\w)pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?!\w)", "https://airtable.com/developers/web/guides/personal-access-tokens"),
    Shape("figma token", ("figd_",), r"(?<!\w)figd_[\w-]{38,}+", "https://www.figma.com/developers/api#access-tokens"),
    Shape("dropbox token", ("sl.",), r"(?<![\w.-])sl\.(?:u\.)?[\w-]{120,}+", "https://www.dropbox.com/developers/reference/auth-types"),
    Shape("hubspot token", ("pat-",), _B + r"pat-(?:na|eu|ap)\d-" + _UUID + r"(?![\w-])", "https://developers.hubspot.com/docs/apps/legacy-apps/private-apps/overview"),
    Shape("typeform token", ("tfp_",), r"(?<!\w)tfp_[\w.=-]{40,}+", "https://www.typeform.com/developers/get-started/personal-access-token/"),
    Shape("contentful token", ("CFPAT-",), _B + r"CFPAT-[\w-]{40,}+", "https://www.contentful.com/developers/docs/references/authentication/"),
    Shape("facebook token", ("EAA",), r"(?<![\w+/])EAA[A-Za-z0-9]{90,400}+(?![\w+/=])", "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/"),
    Shape("twitter bearer token", ("AAAAAAAAA",), r"(?<![\w+/=%-])A{20}(?=[\w%]{0,40}[B-Za-z])[A-Za-z0-9%]{60,}+", "https://docs.x.com/fundamentals/authentication/oauth-2-0/bearer-tokens"),
    # --- money ---
    Shape("stripe key", ("k_live_", "k_test_", "whsec_"), _E + r"(?:[spr]k_(?:live|test)_[A-Za-z0-9]{16,}+[\w-]*+|whsec_[A-Za-z0-9+/]{24,}+=*+)", "https://docs.stripe.com/keys"),
    Shape("square secret", ("sq0csp-",), _E + r"sq0csp-[\w\\-]{43,}+", "https://developer.squareup.com/docs/oauth-api/overview"),
    Shape("square token", ("sq0", "EAAA"), r"(?<!\w)(?:sq0[a-z]{3}-[\w-]{22,}+|EAAA[\w-]{60}(?![\w-]))", "https://developer.squareup.com/docs/build-basics/access-tokens"),
    Shape("shopify token", ("shp",), r"(?<!\w)shp(?:at|ca|pa|ss|ua|rt)_[a-fA-F0-9]{32}(?!\w)", "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens"),
    Shape("braintree token", ("access_token$",), r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}(?!\w)", "https://developer.paypal.com/braintree/docs/guides/authorization/overview"),
    Shape("razorpay key", ("rzp_",), r"(?<!\w)rzp_(?:live|test)_[A-Za-z0-9]{14,}+", "https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/"),
    Shape("flutterwave key", ("FLWSECK",), r"(?<!\w)FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}+(?:-X)?", "https://developer.flutterwave.com/docs/authentication"),
    Shape("easypost key", ("EZ",), r"(?<!\w)EZ[AT]K[A-Za-z0-9]{54}(?!\w)", "https://docs.easypost.com/docs/authentication"),
    Shape("shippo token", ("shippo_",), r"(?<!\w)shippo_(?:live|test)_[a-fA-F0-9]{40}(?!\w)", "https://docs.goshippo.com/docs/guides_general/authentication/"),
    Shape("duffel token", ("duffel_",), r"(?<!\w)duffel_(?:live|test)_[\w=-]{40,}+", "https://duffel.com/docs/api/overview/welcome"),
    # --- watching ---
    Shape("grafana token", ("gl", "eyJrIjoi"), r"(?<!\w)(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}+=*+|eyJrIjoi[A-Za-z0-9+/]{60,}+=*+)(?!\w)", "https://grafana.com/docs/grafana/latest/administration/service-accounts/"),
    Shape("sentry token", ("sntry",), r"(?<!\w)sntry(?:s_[A-Za-z0-9+/=_-]{60,}+|u_[a-f0-9]{64}(?!\w))", "https://docs.sentry.io/account/auth-tokens/"),
    Shape("new relic key", ("NRAK-", "NRII-", "NRJS-", "NRAL"), r"(?<![\w-])(?:NR(?:AK|II|JS)-[\w-]{19,}+|[a-f0-9]{36}NRAL(?!\w))", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    Shape("dynatrace token", ("dt0",), r"(?<!\w)dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{40,64}+(?!\w)", "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens"),
    Shape("readme key", ("rdme_",), r"(?<!\w)rdme_[a-z0-9]{60,}+", "https://docs.readme.com/main/reference/intro/authentication"),
    Shape("prefect key", ("pnu_", "pnb_"), r"(?<!\w)pn[ub]_[A-Za-z0-9]{36}(?!\w)", "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys"),
    Shape("infracost key", ("ico-",), _B + r"ico-[A-Za-z0-9]{32}(?![\w-])", "https://www.infracost.io/docs/"),
    Shape("mapbox token", ("sk.eyJ",), r"(?<![\w.])sk\.eyJ[\w-]{40,}+\.[\w-]{20,}+", "https://docs.mapbox.com/help/dive-deeper/access-tokens/"),
    Shape("yandex key", ("AQVN", "y0_"), r"(?<!\w)(?:AQVN[\w-]{35,38}+|y0_[\w-]{50,}+)(?![\w-])", "https://yandex.cloud/en/docs/iam/concepts/authorization/api-key"),
    # --- of no one vendor ---
    Shape("age key", ("AGE-SECRET-KEY-", "AGE-PLUGIN-"), r"(?<!\w)AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{2,20})-1[A-Z0-9]{20,}+", "https://github.com/C2SP/C2SP/blob/main/age.md"),
    Shape("json web token", ("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+", "https://www.rfc-editor.org/rfc/rfc7519"),
    Shape("encrypted token", ("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]*+\.[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+", "https://www.rfc-editor.org/rfc/rfc7516"),
    Shape("credentials", ("earer",), r"(?<=\b[Bb]earer )(?=[\w.~+/-]{0,200}?\d)[\w.~+/-]{16,}+=*+", "https://www.rfc-editor.org/rfc/rfc6750", is_short=True),
    Shape("password", ("://",), r"(?<=://)[^\s/@:'\"`]{0,256}+:(?P<value>[^\s/@'\"`]{1,1024}+)(?=@)", "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1", is_short=True),
    Shape("token", ("://",), r"(?<=://)(?P<value>(?=[\w-]{0,60}?\d)(?=[\w-]{0,60}?[A-Za-z])[\w-]{24,}+)(?=(?::x-oauth-basic|:)?@)", "https://docs.github.com/en/get-started/git-basics/about-remote-repositories"),
)  # fmt: skip
