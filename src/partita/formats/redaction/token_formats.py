"""The formats of keys and tokens that services publish, one row each.

A row has the prefixes of a token and a regular expression for what follows. Every expression is bounded and
does not backtrack over more than one token, so that any text is searched in linear time. A token begins where
no letter or digit precedes it.

Each token has a run of at least `RUN` letters, digits, `_` and `-`; text without such runs is not searched.
"""

import re
from typing import Final, NamedTuple

RUN: Final = 16
"""The length of a run of letters, digits, `_` and `-` that every token has at least."""

PREFIX_REACH: Final = 80
"""How far before such a run a token may begin."""

LONG_RUN: Final = 512
"""In a longer run, which is encoded data, a token is found at the beginning alone."""

BOUNDARY: Final = r"(?<![A-Za-z0-9])"
NOT_BASE64: Final = r"(?<![A-Za-z0-9+/])"
"""The boundary of tokens with a short prefix, which may occur in encoded data."""


class TokenFormat(NamedTuple):
    """What the tokens of a service look like. The group `secret` is what is replaced, or else all of it.

    `before`: an expression for what precedes the prefix in the token, if that is not its beginning.
    `anywhere`: the whole text is searched for the prefixes, since the runs of the token may be short.
    """

    kind: str
    service: str
    prefixes: tuple[str, ...]
    body: str
    before: str = ""
    boundary: str = BOUNDARY
    anywhere: bool = False

    @property
    def expression(self) -> str:
        """A regular expression for the whole token."""
        prefixes = "|".join(map(re.escape, self.prefixes))
        return f"{self.before or self.boundary}(?:{prefixes}){self.body}"


def _format(
    kind: str,
    service: str,
    prefixes: str,
    body: str,
    *,
    before: str = "",
    boundary: str = BOUNDARY,
    anywhere: bool = False,
) -> TokenFormat:
    return TokenFormat(kind, service, tuple(prefixes.split()), body, before, boundary, anywhere)


TOKEN_FORMATS: Final = (
    _format(
        "provider-key",
        "OpenAI, Anthropic, OpenRouter, DeepSeek",
        "sk-",
        r"(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{16,250}",
    ),
    _format("provider-key", "Google API key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _format("provider-key", "Google access token", "ya29.", r"[A-Za-z0-9_-]{20,500}"),
    _format("provider-key", "Google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,60}"),
    _format("provider-key", "Google refresh token", "1//0", r"[A-Za-z0-9_-]{35,250}"),
    _format("provider-key", "Hugging Face", "hf_", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "Hugging Face organization", "api_org_", r"[A-Za-z0-9]{30,60}"),
    _format("provider-key", "Groq", "gsk_", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "Replicate", "r8_", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "Perplexity", "pplx-", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "Fireworks", "fw_", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "xAI", "xai-", r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"),
    _format("provider-key", "Together", "tgp_v1_", r"[A-Za-z0-9_-]{30,100}"),
    _format("provider-key", "NVIDIA", "nvapi-", r"[A-Za-z0-9_-]{40,120}"),
    _format("provider-key", "Cerebras", "csk-", r"[a-z0-9]{40,80}"),
    _format("provider-key", "LangSmith", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{6,20}"),
    _format("provider-key", "LangSmith (older)", "ls__", r"[0-9a-f]{32}"),
    _format("provider-key", "Pinecone", "pcsk_", r"[A-Za-z0-9_]{40,120}"),
    _format("provider-key", "Jina", "jina_", r"[A-Za-z0-9_-]{40,120}"),
    _format("provider-key", "Tavily", "tvly-", r"[A-Za-z0-9-]{24,80}"),
    _format("provider-key", "Firecrawl", "fc-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("provider-key", "ElevenLabs", "sk_", r"[0-9a-f]{48}(?![A-Za-z0-9])"),
    _format("provider-key", "E2B", "e2b_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    _format(
        "provider-key",
        "Stripe, Paystack, Clerk",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_",
        r"[A-Za-z0-9]{16,250}",
    ),
    _format("provider-key", "Stripe webhook", "whsec_", r"[A-Za-z0-9+/=]{20,250}", anywhere=True),
    _format(
        "aws-key",
        "AWS access key id",
        "AKIA ASIA ABIA ACCA AGPA AIDA AROA AIPA ANPA ANVA",
        r"[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _format("aws-key", "AWS Bedrock API key", "ABSK", r"[A-Za-z0-9+/]{100,270}={0,2}"),
    _format("aws-key", "AWS Bedrock short-term key", "bedrock-api-key-", r"[A-Za-z0-9+/]{16,4000}+={0,2}"),
    _format("aws-key", "AWS session token", "IQoJb3JpZ2lu FwoGZXIvYXdz", r"[A-Za-z0-9+/]{80,4000}+={0,2}"),
    _format("aws-key", "AWS Marketplace", "amzn.mws.", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _format(
        "cloud-key",
        "Azure client secret",
        "Q~",
        r"[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9])",
        before=r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]",
        anywhere=True,
    ),
    _format(
        "cloud-key",
        "Azure DevOps",
        "AZDO",
        r"[A-Za-z0-9]{4}(?![A-Za-z0-9])",
        before=r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}",
    ),
    _format("cloud-key", "DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,64}"),
    _format("cloud-key", "Heroku", "HRKU-", r"[A-Za-z0-9_-]{36,80}"),
    _format("cloud-key", "Cloudflare origin CA", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{120,160}"),
    _format("cloud-key", "Fly.io", "fm1_ fm2_ fm1r_ fm1a_", r"[A-Za-z0-9+/]{80,4000}+={0,3}"),
    _format("cloud-key", "Fly.io (older)", "fo1_", r"[A-Za-z0-9_-]{40,60}"),
    _format("cloud-key", "Vercel", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,80}"),
    _format("cloud-key", "Vercel Blob", "vercel_blob_rw_", r"[A-Za-z0-9_]{30,80}"),
    _format("cloud-key", "Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[A-Za-z0-9_]{36,60}"),
    _format("cloud-key", "Render", "rnd_", r"[A-Za-z0-9]{28,60}"),
    _format("cloud-key", "Supabase", "sbp_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    _format("cloud-key", "Supabase secret key", "sb_secret_", r"[A-Za-z0-9_-]{20,80}"),
    _format("cloud-key", "PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_-]{30,64}"),
    _format("cloud-key", "Neon", "napi_ npg_", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{12,100}"),
    _format("cloud-key", "Databricks", "dapi dose dkea", r"[0-9a-f]{32}(?:-[0-9]{1,2})?(?![A-Za-z0-9])"),
    _format(
        "cloud-key",
        "Terraform Cloud",
        ".atlasv1.",
        r"[A-Za-z0-9_=-]{50,80}",
        before=r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}",
    ),
    _format("cloud-key", "HashiCorp Vault", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,300}"),
    _format(
        "cloud-key",
        "HashiCorp Vault (older)",
        "s.",
        r"(?=[A-Za-z]{0,23}[0-9])(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])",
    ),
    _format("cloud-key", "Pulumi", "pul-", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    _format(
        "cloud-key",
        "Doppler",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _format("cloud-key", "Grafana", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _format("cloud-key", "Grafana Cloud", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}", anywhere=True),
    _format("cloud-key", "Dynatrace", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _format("cloud-key", "Alibaba Cloud", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", boundary=NOT_BASE64),
    _format("cloud-key", "Tencent Cloud", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _format("cloud-key", "Yandex Cloud", "AQVN", r"[A-Za-z0-9_-]{35,40}"),
    _format("cloud-key", "Tailscale", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{6,30}-[A-Za-z0-9]{10,60}"),
    _format("cloud-key", "1Password service account", "ops_eyJ", r"[A-Za-z0-9+/_-]{60,4000}+={0,3}"),
    _format(
        "cloud-key", "1Password secret key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"
    ),
    _format("cloud-key", "MongoDB Atlas", "mdb_sa_sk_", r"[A-Za-z0-9_-]{30,80}"),
    _format(
        "cloud-key", "ClickHouse Cloud", "4b1d", r"(?=[a-z0-9]{0,37}[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])"
    ),
    _format("cloud-key", "Deno Deploy", "ddp_ ddo_", r"[A-Za-z0-9]{36}"),
    _format("cloud-key", "Infisical", "st.", r"[0-9a-f-]{20,40}\.[0-9a-f]{20,80}\.[0-9a-f]{20,80}"),
    _format("github-token", "GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,255}"),
    _format("github-token", "GitHub (fine-grained)", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _format(
        "gitlab-token",
        "GitLab",
        "glpat- gldt- glrt- glrtr- glptt- glft- glimt- glagent- glcbt- glwt- glsoat- glffct- gloas-",
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    _format("gitlab-token", "GitLab runner registration", "GR1348941", r"[A-Za-z0-9_-]{20,40}"),
    _format(
        "slack-token",
        "Slack",
        "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xwfp-",
        r"[A-Za-z0-9-]{10,250}",
    ),
    _format("slack-token", "Slack cookie", "xoxd-", r"[A-Za-z0-9%/+=-]{20,400}", anywhere=True),
    _format("slack-token", "Slack rotating token", "xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10,250}"),
    _format("slack-token", "Slack app", "xapp-", r"[A-Za-z0-9-]{10,250}"),
    _format(
        "slack-token",
        "Slack webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"(?P<secret>(?:[A-Za-z0-9]{8,20}/){1,3}[A-Za-z0-9]{16,64})",
    ),
    _format(
        "chat-token",
        "Discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"(?P<secret>[0-9]{15,22}/[A-Za-z0-9_-]{50,100})",
    ),
    _format(
        "chat-token",
        "Microsoft Teams webhook",
        "webhook.office.com/webhookb2/",
        r"(?P<secret>[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}[A-Za-z0-9_/-]{0,80})",
    ),
    _format(
        "chat-token",
        "Telegram bot",
        ":AA",
        r"[A-Za-z0-9_-]{32,35}(?![A-Za-z0-9_-])",
        before=r"(?<![A-Za-z0-9])[0-9]{8,10}",
    ),
    _format("chat-token", "Twilio API key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("chat-token", "SendGrid", "SG.", r"[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"),
    _format("chat-token", "Mailgun", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format(
        "chat-token",
        "Mailchimp",
        "-us",
        r"[0-9]{1,2}(?![A-Za-z0-9-])",
        before=r"(?<![A-Za-z0-9])[0-9a-f]{32}",
    ),
    _format("chat-token", "Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _format("chat-token", "Resend", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
    _format("service-key", "Square", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,60}"),
    _format("service-key", "Square access token", "EAAA", r"[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9])"),
    _format("service-key", "Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32}"),
    _format(
        "service-key",
        "Braintree",
        "access_token$production$ access_token$sandbox$",
        r"[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    _format(
        "service-key",
        "Plaid",
        "access-production- access-sandbox- access-development-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    _format("service-key", "Flutterwave", "FLWSECK- FLWSECK_TEST-", r"[0-9a-zA-Z]{12,64}(?:-X)?"),
    _format("service-key", "EasyPost", "EZAK EZTK", r"[A-Za-z0-9]{54}", boundary=NOT_BASE64),
    _format("service-key", "Sentry", "sntrys_ sntryu_", r"[A-Za-z0-9+/_]{60,400}={0,2}"),
    _format("service-key", "Linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,70}"),
    _format("service-key", "Notion", "ntn_", r"[0-9]{8,14}[A-Za-z0-9]{30,40}"),
    _format("service-key", "Notion (older)", "secret_", r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    _format("service-key", "Figma", "figd_ figo_ figu_", r"[A-Za-z0-9_-]{36,60}"),
    _format("service-key", "Airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _format(
        "service-key",
        "Atlassian",
        "ATATT3 ATCTT3 ATSTT3 ATBB ATTA",
        r"[A-Za-z0-9_-]{24,240}(?:=[A-Za-z0-9]{4,10})?",
    ),
    _format("service-key", "Postman", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _format("service-key", "New Relic", "NRAK- NRJS- NRII- NRIQ- NRRA-", r"[A-Za-z0-9_-]{18,42}"),
    _format(
        "service-key", "New Relic license", "NRAL", r"(?![A-Za-z0-9])", before=r"(?<![A-Za-z0-9])[0-9a-f]{36}"
    ),
    _format("service-key", "Mapbox", "sk.eyJ", r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}"),
    _format(
        "service-key", "HubSpot", "pat-na1- pat-na2- pat-eu1-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    ),
    _format("service-key", "Dropbox", "sl.", r"(?:u\.)?[A-Za-z0-9_-]{120,1500}"),
    _format(
        "service-key",
        "Facebook",
        "EAAC EAAB EAAG EAAD EAAE",
        r"[A-Za-z0-9]{80,300}(?![A-Za-z0-9+/=_-])",
        boundary=NOT_BASE64,
    ),
    _format("service-key", "Contentful", "CFPAT-", r"[A-Za-z0-9_-]{40,50}"),
    _format("service-key", "PostHog", "phx_ phs_", r"[A-Za-z0-9]{40,60}"),
    _format("service-key", "Segment, Sourcegraph", "sgp_ sgs_", r"[A-Za-z0-9_]{40,70}"),
    _format(
        "service-key",
        "LaunchDarkly",
        "sdk- api-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9-])",
    ),
    _format("service-key", "Buildkite", "bkua_ bkaj_ bkpt_", r"[0-9a-f]{36,60}"),
    _format("service-key", "CircleCI", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{10,30}_[0-9a-f]{40}"),
    _format("service-key", "SonarQube", "sqp_ squ_ sqa_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    _format("service-key", "Artifactory", "AKCp", r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9])", boundary=NOT_BASE64),
    _format(
        "service-key",
        "Artifactory reference",
        "cmVmd",
        r"[A-Za-z0-9]{59}(?![A-Za-z0-9])",
        boundary=NOT_BASE64,
    ),
    _format("service-key", "ClickUp", "pk_", r"[0-9]{5,12}_[A-Z0-9]{32}(?![A-Za-z0-9])"),
    _format("service-key", "Typeform", "tfp_", r"[A-Za-z0-9_-]{40,80}"),
    _format("service-key", "Frame.io", "fio-u-", r"[A-Za-z0-9_-]{60,70}"),
    _format("service-key", "Prefect", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    _format("service-key", "Shippo", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    _format("service-key", "Duffel", "duffel_live_ duffel_test_", r"[A-Za-z0-9_-]{43}"),
    _format("service-key", "ReadMe", "rdme_", r"[a-z0-9]{70}"),
    _format(
        "service-key",
        "Zapier webhook",
        "hooks.zapier.com/hooks/catch/",
        r"(?P<secret>[A-Za-z0-9/]{10,60})",
        anywhere=True,
    ),
    _format("package-token", "npm", "npm_", r"[A-Za-z0-9]{30,100}"),
    _format("package-token", "PyPI", "pypi-", r"[A-Za-z0-9_-]{50,400}"),
    _format("package-token", "Docker", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,60}"),
    _format("package-token", "RubyGems", "rubygems_", r"[0-9a-f]{48}"),
    _format("package-token", "crates.io", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9+/=])", boundary=NOT_BASE64),
    _format("package-token", "NuGet", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])", boundary=NOT_BASE64),
    _format("package-token", "Clojars", "CLOJARS_", r"[0-9a-f]{60}"),
    _format("partita-key", "Partita", "pk_", r"[0-9a-f]{16}_[A-Za-z0-9_-]{43}"),
    _format("private-key", "age", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,60}"),
    _format("private-key", "age (post-quantum)", "AGE-SECRET-KEY-PQ-1", r"[A-Z0-9]{50,80}"),
    _format(
        "jwt",
        "JSON web token",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]*+",
        boundary=r"(?<![A-Za-z0-9_-])",
    ),
    _format(
        "jwt",
        "JSON web token (encrypted)",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+",
        boundary=r"(?<![A-Za-z0-9_-])",
    ),
)
