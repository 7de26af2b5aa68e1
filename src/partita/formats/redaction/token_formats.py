"""The formats of keys and tokens that services publish, one row each.

A row has the prefixes of a token and a regular expression for what follows. Every expression is bounded and
does not backtrack over more than one token, so that any text is searched in linear time. A token begins where
no letter or digit precedes it.

Each token has a run of at least `RUN` letters, digits, `_` and `-`; text without such runs is not searched.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

RUN: Final = 16
"""The length of a run of letters, digits, `_` and `-` that every token has at least."""

PREFIX_REACH: Final = 80
"""The most characters of a token before such a run."""

LONG_RUN: Final = 512
"""In a longer run, which is encoded data, a token is found at the beginning alone."""

BOUNDARY: Final = r"(?<![A-Za-z0-9])"
NOT_BASE64: Final = r"(?<![A-Za-z0-9+/])"
"""The boundary of tokens with a short prefix, which may occur in encoded data."""


class TokenFormat(NamedTuple):
    """The format of the tokens of a service. The group `secret` is replaced, or else the whole token.

    `before`: an expression for the characters before the prefix, if the token does not begin with it.
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


def _token(
    service: str,
    prefixes: str,
    body: str,
    *,
    before: str = "",
    boundary: str = BOUNDARY,
    anywhere: bool = False,
) -> TokenFormat:
    return TokenFormat("", service, tuple(prefixes.split()), body, before, boundary, anywhere)


def _of_kind(kind: str, *tokens: TokenFormat) -> Iterator[TokenFormat]:
    return (token._replace(kind=kind) for token in tokens)


_KEY: Final = r"(?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"
_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

TOKEN_FORMATS: Final = (
    *_of_kind(
        "provider-key",
        _token(
            "OpenAI, Anthropic, OpenRouter, DeepSeek",
            "sk-",
            r"(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{16,250}",
        ),
        _token("Google API key", "AIza", r"[A-Za-z0-9_-]{35}"),
        _token("Google access token", "ya29.", r"[A-Za-z0-9_-]{20,500}"),
        _token("Google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,60}"),
        _token("Google refresh token", "1//0", r"[A-Za-z0-9_-]{35,250}"),
        _token("Hugging Face", "hf_", _KEY),
        _token("Hugging Face organization", "api_org_", r"[A-Za-z0-9]{30,60}"),
        _token("Groq", "gsk_", _KEY),
        _token("Replicate", "r8_", _KEY),
        _token("Perplexity", "pplx-", _KEY),
        _token("Fireworks", "fw_", _KEY),
        _token("xAI", "xai-", _KEY),
        _token("Together", "tgp_v1_", r"[A-Za-z0-9_-]{30,100}"),
        _token("NVIDIA", "nvapi-", r"[A-Za-z0-9_-]{40,120}"),
        _token("Cerebras", "csk-", r"[a-z0-9]{40,80}"),
        _token("LangSmith", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{6,20}"),
        _token("LangSmith (older)", "ls__", r"[0-9a-f]{32}"),
        _token("Pinecone", "pcsk_", r"[A-Za-z0-9_]{40,120}"),
        _token("Jina", "jina_", r"[A-Za-z0-9_-]{40,120}"),
        _token("Tavily", "tvly-", r"[A-Za-z0-9-]{24,80}"),
        _token("Firecrawl", "fc-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
        _token("ElevenLabs", "sk_", r"[0-9a-f]{48}(?![A-Za-z0-9])"),
        _token("E2B", "e2b_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
        _token(
            "Stripe, Paystack, Clerk",
            "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_",
            r"[A-Za-z0-9]{16,250}",
        ),
        _token("Stripe webhook", "whsec_", r"[A-Za-z0-9+/=]{20,250}", anywhere=True),
    ),
    *_of_kind(
        "aws-key",
        _token(
            "AWS access key id",
            "AKIA ASIA ABIA ACCA AGPA AIDA AROA AIPA ANPA ANVA",
            r"[A-Z0-9]{16}(?![A-Za-z0-9])",
        ),
        _token("AWS Bedrock API key", "ABSK", r"[A-Za-z0-9+/]{100,270}={0,2}"),
        _token("AWS Bedrock short-term key", "bedrock-api-key-", r"[A-Za-z0-9+/]{16,4000}+={0,2}"),
        _token("AWS session token", "IQoJb3JpZ2lu FwoGZXIvYXdz", r"[A-Za-z0-9+/]{80,4000}+={0,2}"),
        _token("AWS Marketplace", "amzn.mws.", _UUID),
    ),
    *_of_kind(
        "cloud-key",
        _token(
            "Azure client secret",
            "Q~",
            r"[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9])",
            before=r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]",
            anywhere=True,
        ),
        _token(
            "Azure DevOps",
            "AZDO",
            r"[A-Za-z0-9]{4}(?![A-Za-z0-9])",
            before=r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}",
        ),
        _token("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,64}"),
        _token("Heroku", "HRKU-", r"[A-Za-z0-9_-]{36,80}"),
        _token("Cloudflare origin CA", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{120,160}"),
        _token("Fly.io", "fm1_ fm2_ fm1r_ fm1a_", r"[A-Za-z0-9+/]{80,4000}+={0,3}"),
        _token("Fly.io (older)", "fo1_", r"[A-Za-z0-9_-]{40,60}"),
        _token("Vercel", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,80}"),
        _token("Vercel Blob", "vercel_blob_rw_", r"[A-Za-z0-9_]{30,80}"),
        _token("Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[A-Za-z0-9_]{36,60}"),
        _token("Render", "rnd_", r"[A-Za-z0-9]{28,60}"),
        _token("Supabase", "sbp_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
        _token("Supabase secret key", "sb_secret_", r"[A-Za-z0-9_-]{20,80}"),
        _token("PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_-]{30,64}"),
        _token("Neon", "napi_ npg_", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{12,100}"),
        _token("Databricks", "dapi dose dkea", r"[0-9a-f]{32}(?:-[0-9]{1,2})?(?![A-Za-z0-9])"),
        _token(
            "Terraform Cloud",
            ".atlasv1.",
            r"[A-Za-z0-9_=-]{50,80}",
            before=r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}",
        ),
        _token("HashiCorp Vault", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,300}"),
        _token(
            "HashiCorp Vault (older)",
            "s.",
            r"(?=[A-Za-z]{0,23}[0-9])(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])",
        ),
        _token("Pulumi", "pul-", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
        _token(
            "Doppler",
            "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
            r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        ),
        _token("Grafana", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
        _token("Grafana Cloud", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}", anywhere=True),
        _token("Dynatrace", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
        _token("Alibaba Cloud", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", boundary=NOT_BASE64),
        _token("Tencent Cloud", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
        _token("Yandex Cloud", "AQVN", r"[A-Za-z0-9_-]{35,40}"),
        _token("Tailscale", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{6,30}-[A-Za-z0-9]{10,60}"),
        _token("1Password service account", "ops_eyJ", r"[A-Za-z0-9+/_-]{60,4000}+={0,3}"),
        _token("1Password secret key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
        _token("MongoDB Atlas", "mdb_sa_sk_", r"[A-Za-z0-9_-]{30,80}"),
        _token("ClickHouse Cloud", "4b1d", r"(?=[a-z0-9]{0,37}[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
        _token("Deno Deploy", "ddp_ ddo_", r"[A-Za-z0-9]{36}"),
        _token("Infisical", "st.", r"[0-9a-f-]{20,40}\.[0-9a-f]{20,80}\.[0-9a-f]{20,80}"),
    ),
    *_of_kind(
        "github-token",
        _token("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,255}"),
        _token("GitHub (fine-grained)", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    ),
    *_of_kind(
        "gitlab-token",
        _token(
            "GitLab",
            "glpat- gldt- glrt- glrtr- glptt- glft- glimt- glagent- glcbt- glwt- glsoat- glffct- gloas-",
            r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        ),
        _token("GitLab runner registration", "GR1348941", r"[A-Za-z0-9_-]{20,40}"),
    ),
    *_of_kind(
        "slack-token",
        _token("Slack", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xwfp-", r"[A-Za-z0-9-]{10,250}"),
        _token("Slack cookie", "xoxd-", r"[A-Za-z0-9%/+=-]{20,400}", anywhere=True),
        _token("Slack rotating token", "xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10,250}"),
        _token("Slack app", "xapp-", r"[A-Za-z0-9-]{10,250}"),
        _token(
            "Slack webhook",
            "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
            r"(?P<secret>(?:[A-Za-z0-9]{8,20}/){1,3}[A-Za-z0-9]{16,64})",
        ),
    ),
    *_of_kind(
        "chat-token",
        _token(
            "Discord webhook",
            "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
            r"(?P<secret>[0-9]{15,22}/[A-Za-z0-9_-]{50,100})",
        ),
        _token(
            "Microsoft Teams webhook",
            "webhook.office.com/webhookb2/",
            r"(?P<secret>[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}[A-Za-z0-9_/-]{0,80})",
        ),
        _token(
            "Telegram bot",
            ":AA",
            r"[A-Za-z0-9_-]{32,35}(?![A-Za-z0-9_-])",
            before=r"(?<![A-Za-z0-9])[0-9]{8,10}",
        ),
        _token("Twilio API key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
        _token("SendGrid", "SG.", r"[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"),
        _token("Mailgun", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
        _token("Mailchimp", "-us", r"[0-9]{1,2}(?![A-Za-z0-9-])", before=r"(?<![A-Za-z0-9])[0-9a-f]{32}"),
        _token("Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
        _token("Resend", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
    ),
    *_of_kind(
        "service-key",
        _token("Square", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,60}"),
        _token("Square access token", "EAAA", r"[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9])"),
        _token("Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32}"),
        _token("Braintree", "access_token$production$ access_token$sandbox$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
        _token("Plaid", "access-production- access-sandbox- access-development-", _UUID),
        _token("Flutterwave", "FLWSECK- FLWSECK_TEST-", r"[0-9a-zA-Z]{12,64}(?:-X)?"),
        _token("EasyPost", "EZAK EZTK", r"[A-Za-z0-9]{54}", boundary=NOT_BASE64),
        _token("Sentry", "sntrys_ sntryu_", r"[A-Za-z0-9+/_]{60,400}={0,2}"),
        _token("Linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,70}"),
        _token("Notion", "ntn_", r"[0-9]{8,14}[A-Za-z0-9]{30,40}"),
        _token("Notion (older)", "secret_", r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
        _token("Figma", "figd_ figo_ figu_", r"[A-Za-z0-9_-]{36,60}"),
        _token("Airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
        _token(
            "Atlassian", "ATATT3 ATCTT3 ATSTT3 ATBB ATTA", r"[A-Za-z0-9_-]{24,240}(?:=[A-Za-z0-9]{4,10})?"
        ),
        _token("Postman", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
        _token("New Relic", "NRAK- NRJS- NRII- NRIQ- NRRA-", r"[A-Za-z0-9_-]{18,42}"),
        _token("New Relic license", "NRAL", r"(?![A-Za-z0-9])", before=r"(?<![A-Za-z0-9])[0-9a-f]{36}"),
        _token("Mapbox", "sk.eyJ", r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}"),
        _token("HubSpot", "pat-na1- pat-na2- pat-eu1-", _UUID),
        _token("Dropbox", "sl.", r"(?:u\.)?[A-Za-z0-9_-]{120,1500}"),
        _token(
            "Facebook",
            "EAAC EAAB EAAG EAAD EAAE",
            r"[A-Za-z0-9]{80,300}(?![A-Za-z0-9+/=_-])",
            boundary=NOT_BASE64,
        ),
        _token("Contentful", "CFPAT-", r"[A-Za-z0-9_-]{40,50}"),
        _token("PostHog", "phx_ phs_", r"[A-Za-z0-9]{40,60}"),
        _token("Segment, Sourcegraph", "sgp_ sgs_", r"[A-Za-z0-9_]{40,70}"),
        _token("LaunchDarkly", "sdk- api-", _UUID + r"(?![A-Za-z0-9-])"),
        _token("Buildkite", "bkua_ bkaj_ bkpt_", r"[0-9a-f]{36,60}"),
        _token("CircleCI", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{10,30}_[0-9a-f]{40}"),
        _token("SonarQube", "sqp_ squ_ sqa_", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
        _token("Artifactory", "AKCp", r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9])", boundary=NOT_BASE64),
        _token("Artifactory reference", "cmVmd", r"[A-Za-z0-9]{59}(?![A-Za-z0-9])", boundary=NOT_BASE64),
        _token("ClickUp", "pk_", r"[0-9]{5,12}_[A-Z0-9]{32}(?![A-Za-z0-9])"),
        _token("Typeform", "tfp_", r"[A-Za-z0-9_-]{40,80}"),
        _token("Frame.io", "fio-u-", r"[A-Za-z0-9_-]{60,70}"),
        _token("Prefect", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
        _token("Shippo", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
        _token("Duffel", "duffel_live_ duffel_test_", r"[A-Za-z0-9_-]{43}"),
        _token("ReadMe", "rdme_", r"[a-z0-9]{70}"),
        _token(
            "Zapier webhook",
            "hooks.zapier.com/hooks/catch/",
            r"(?P<secret>[A-Za-z0-9/]{10,60})",
            anywhere=True,
        ),
    ),
    *_of_kind(
        "package-token",
        _token("npm", "npm_", r"[A-Za-z0-9]{30,100}"),
        _token("PyPI", "pypi-", r"[A-Za-z0-9_-]{50,400}"),
        _token("Docker", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,60}"),
        _token("RubyGems", "rubygems_", r"[0-9a-f]{48}"),
        _token("crates.io", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9+/=])", boundary=NOT_BASE64),
        _token("NuGet", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])", boundary=NOT_BASE64),
        _token("Clojars", "CLOJARS_", r"[0-9a-f]{60}"),
    ),
    *_of_kind("partita-key", _token("Partita", "pk_", r"[0-9a-f]{16}_[A-Za-z0-9_-]{43}")),
    *_of_kind(
        "private-key",
        _token("age", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,60}"),
        _token("age (post-quantum)", "AGE-SECRET-KEY-PQ-1", r"[A-Z0-9]{50,80}"),
    ),
    *_of_kind(
        "jwt",
        _token(
            "JSON web token",
            "eyJ",
            r"[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]*+",
            boundary=r"(?<![A-Za-z0-9_-])",
        ),
        _token(
            "JSON web token (encrypted)",
            "eyJ",
            r"[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+",
            boundary=r"(?<![A-Za-z0-9_-])",
        ),
    ),
)
