"""The kinds of secrets that are known by how they look, each with the name that its mark bears.

Every pattern is bounded, and begins with letters that are rare: a text of many megabytes is searched in
seconds, whatever it holds.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple


class Kind(NamedTuple):
    """A kind of secret. The group `secret` is what is replaced; without one, all of the match."""

    name: str
    label: str
    what: str
    pattern: re.Pattern[str]
    wanted: bool = True  # unless somebody says otherwise
    spreads: bool = True  # found in one place, it is replaced wherever it stands


_NAMES: Final = (
    r"passwords?|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key"
    r"|secret[_-]?access[_-]?key|secret[_-]?key|encryption[_-]?key"
)
_PEM: Final = r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"

SECRET_NAME: Final = re.compile(rf"(?i)(?:.{{0,60}}[_.-])?(?:{_NAMES}|authorization|x-api-key)")
"""The name of a member whose value is a secret."""

SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token)\s+(?=\S)")
"""What stands before the secret in an `Authorization` header."""

KINDS: Final = (
    Kind(
        "private-key",
        "private key",
        "private keys in PEM form",
        re.compile(
            rf"-----BEGIN {_PEM}"
            rf"(?:(?:[^-]|-(?!----)){{0,16384}}-----END {_PEM}|[A-Za-z0-9+/=\\\s]{{0,16384}})"
        ),
    ),
    Kind(
        "provider-key",
        "api key",
        "keys of model providers and payment services (sk-…, AIza…, hf_…, gsk_…)",
        re.compile(
            r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{16,250}"
            r"|AIza[A-Za-z0-9_-]{35}"
            r"|ya29\.[A-Za-z0-9_-]{20,500}"
            r"|GOCSPX-[A-Za-z0-9_-]{20,60}"
            r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,250}"
            r"|whsec_[A-Za-z0-9+/=]{20,250}"
            r"|(?<![A-Za-z0-9])(?:hf|gsk|r8|dop_v1|pplx|fw|xai)[_-](?=[A-Za-z]{0,100}[0-9])[A-Za-z0-9]{20,250}"
            r"|SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"
        ),
    ),
    Kind(
        "aws-key",
        "aws key",
        "access keys of AWS (AKIA…)",
        re.compile(r"(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}"),
    ),
    Kind(
        "github-token",
        "github token",
        "tokens of GitHub (ghp_…, github_pat_…)",
        re.compile(r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255}"),
    ),
    Kind(
        "gitlab-token",
        "gitlab token",
        "tokens of GitLab (glpat-…)",
        re.compile(r"gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,80}"),
    ),
    Kind(
        "slack-token",
        "slack token",
        "tokens and hooks of Slack (xox…)",
        re.compile(
            r"xox[abcdeoprs]-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{10,250}"
            r"|hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{20,100})"
        ),
    ),
    Kind(
        "package-token",
        "package token",
        "tokens of npm and PyPI",
        re.compile(r"npm_[A-Za-z0-9]{30,100}|pypi-[A-Za-z0-9_-]{50,400}"),
    ),
    Kind(
        "jwt",
        "json web token",
        "JSON web tokens",
        re.compile(r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{0,2048}"),
    ),
    Kind(
        "authorization",
        "credential",
        "what stands behind “Authorization” and “Bearer”",
        re.compile(
            r"(?i:authorization)\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?i:bearer|basic|token)\s{1,4}"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{6,8192})"
            r"|(?i:bearer)\s{1,4}(?P<secret2>[A-Za-z0-9._~+/=-]{16,8192})"
        ),
    ),
    Kind(
        "connection-string",
        "password",
        "passwords in addresses (scheme://user:password@host)",
        re.compile(r"://[^\s:/@\"'<>\\]{0,100}:(?P<secret>[^\s@/\"'<>\\]{1,200})@"),
    ),
    Kind(
        "password",
        "password",
        "passwords and keys that are named (password=…, api_key: …)",
        re.compile(
            rf"(?i:{_NAMES})\\?[\"']?\s{{0,4}}(?:=|:)\s{{0,4}}\\?[\"']?"
            r"(?P<secret>[^\s\"'\\,;&<>{}()\[\]|`]{4,200})"
        ),
    ),
    Kind(
        "email",
        "e-mail address",
        "e-mail addresses",
        re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}"),
        wanted=False,
    ),
    Kind(
        "home",
        "user",
        "names of users in paths (/home/…, /Users/…)",
        re.compile(
            r"(?:/(?:home|Users)/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)|(?<![A-Za-z0-9])-(?:home|Users)-)"
            r"(?P<secret>(?!(?:Shared|Public|runner)\b)[A-Za-z0-9._]{1,64})"
        ),
        wanted=False,
        spreads=False,
    ),
)
BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
WANTED: Final = frozenset(kind.name for kind in KINDS if kind.wanted)

PASSWORD: Final = "password"
CUSTOM: Final = "custom"
CUSTOM_LABEL: Final = "custom"

_HOLDS_PLACE: Final = re.compile(
    r"(?i)(?:\$|%|\*{2,}|x{3,}|\.{3}|your|example|changeme$|placeholder|process\.|os\.|env\.|self\.|this\."
    r"|str(?:ing)?\b|null\b|none\b|true\b|false\b|undefined\b|required\b|optional\b|redacted|[a-z_.]{1,80}$)"
)


def is_plausible(secret: str, *, named_password: bool = False) -> bool:
    """Whether a value behind the name of a secret is one, rather than a type, a variable or a sample."""
    if named_password:
        return not re.match(r"(?i)\$|%|\*{2,}|\[redacted|null$|none$|true$|false$", secret)
    return _HOLDS_PLACE.match(secret) is None
