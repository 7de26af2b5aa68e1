"""The kinds of secrets with names, descriptions and labels, and the span of a secret in a text."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    secret: str


class Kind(NamedTuple):
    """A kind of secret."""

    name: str
    label: str
    what: str
    wanted: bool = True
    """Whether it is searched for by default."""
    spreads: bool = True
    """Whether a secret that is found once is replaced everywhere."""


KINDS: Final = (
    Kind("private-key", "private key", "private keys in PEM, OpenSSH, PGP and age form"),
    Kind(
        "provider-key", "api key", "keys of model providers and payment services (sk-…, AIza…, hf_…, gsk_…)"
    ),
    Kind("aws-key", "aws key", "access keys and session tokens of AWS (AKIA…)"),
    Kind("cloud-key", "cloud key", "keys of clouds and infrastructure (dapi…, hvs.…, dop_v1_…, dp.pt.…)"),
    Kind("github-token", "github token", "tokens of GitHub (ghp_…, github_pat_…)"),
    Kind("gitlab-token", "gitlab token", "tokens of GitLab (glpat-…)"),
    Kind("slack-token", "slack token", "tokens and webhooks of Slack (xox…)"),
    Kind(
        "chat-token",
        "chat token",
        "tokens of chat, mail and telephone services (Discord, Telegram, SendGrid)",
    ),
    Kind(
        "service-key",
        "service key",
        "keys of other services (Shopify, Square, Linear, Notion, Figma, Sentry)",
    ),
    Kind("package-token", "package token", "tokens of package registries (npm, PyPI, Docker, RubyGems)"),
    Kind("partita-key", "partita key", "keys of Partita servers (pk_…)"),
    Kind("jwt", "json web token", "JSON web tokens (eyJ…)"),
    Kind(
        "authorization",
        "credential",
        "credentials after “Authorization”, “Bearer” and “Basic”, and of curl -u",
    ),
    Kind("cookie", "cookie", "values of the headers Cookie and Set-Cookie"),
    Kind("signature", "signature", "signatures of signed URLs (sig=…, X-Amz-Signature=…)"),
    Kind("connection-string", "password", "passwords in addresses (scheme://user:password@host)"),
    Kind(
        "password",
        "password",
        "passwords, tokens and keys after a name (password=…, api_key: …, --token …)",
    ),
    Kind("password-hash", "password hash", "hashes of passwords ($2b$…, $6$…, $argon2id$…)"),
    Kind("email", "e-mail address", "e-mail addresses", wanted=False),
    Kind("home", "user", "user names in paths (/home/…, /Users/…)", wanted=False, spreads=False),
)
BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
WANTED: Final = frozenset(kind.name for kind in KINDS if kind.wanted)

PASSWORD: Final = "password"
COOKIE: Final = "cookie"
HOME: Final = "home"
CUSTOM: Final = "custom"
CUSTOM_LABEL: Final = "custom"
