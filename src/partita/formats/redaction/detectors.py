"""Finds secrets by their context: a name, a header, an option, the form of an address.

A detector reads a text from the position of one of its literals. The characters of a value that was found are
not searched a second time.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from .kinds import COOKIE, PASSWORD, Span
from .names import Strength, is_random, is_secret_value, strength_of


class Outcome(NamedTuple):
    """The result of a detector at a position, and where the search continues."""

    span: Span | None
    done: int


Detector = Callable[[str, int], Outcome | None]


def _secret_of(match: re.Match[str], kind: str, group: str | int = "secret") -> Outcome:
    """Return a group of a match as a secret."""
    return Outcome(Span(*match.span(group), kind, match[group]), match.end())


# Values of names

_NAME_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$"
_NAME_REACH: Final = 60
_AFTER_NAME: Final = re.compile(
    r"(?P<rest>[A-Za-z0-9_-]{0,40}+)(?P<close>\\{0,8}+[\"'`]?+\]?+)"
    r"(?:(?P<separator>[ \t]{0,8}+(?:=>|:=|={1,3}+|:(?!:)|>)\s?+[ \t]{0,16}+)"
    r"|(?P<pair>(?:,\s{0,20}+(?:[\"']?[Vv]alue[\"']?\s{0,4}+:\s{0,4}+)?+(?=[\"']))"
    r"|\s{1,20}+value:[ \t]{1,4}+)"
    r"|(?P<is>[ \t]is:?[ \t])|(?P<space>[ \t]{1,4}+))"
)
_INNER_QUOTE: Final = r"\"(?!\s{0,4}[,}\]:]|\Z)"
"""A quotation mark that does not end a string in JSON, so that a secret never covers the end of one."""

_VALUE: Final = re.compile(
    r"(?P<escape>\\{0,8}+)[bBrRuUfF]?(?:\"(?P<double>[^\"\r\n]*+)"
    rf"|'(?P<single>(?:[^'\"\r\n]|{_INNER_QUOTE})*+)|`(?P<back>(?:[^`\"\r\n]|{_INNER_QUOTE})*+))"
    r"|(?P<bare>(?:[^\s\"'`\\,;&<>{}()\[\]|]|,(?![\s\"'`,}\])]|[\w.-]{1,40}[=:]|$))*+)"
)
_LINE_VALUE: Final = re.compile(r"[^\s\"'`]++")
_LINE_START: Final = re.compile(
    r"[\s\"'`]*(?:-\s+|export\s+|setx?\s+|ENV\s+|ARG\s+|\$env:|.{0,200}\s(?:-e|--env|env)\s+)?"
)
AUTHORIZATION_SCHEME: Final = re.compile(
    r"(?i)(?:bearer|basic|token|apikey|api-key|bot|key|jwt|digest)[ \t]+(?=\S)"
)
_NETRC: Final = re.compile(r"(?:^|\s)login\s+\S{1,100}\s+\Z")
_NUMBER: Final = re.compile(r"-?[0-9.eE+-]+")
_LONG_VALUE: Final = 64


def _named(text: str, place: int) -> Outcome | None:
    """The value of a name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `X-Auth-Token: …`."""
    after = _AFTER_NAME.match(text, place)
    if after is None:
        return None
    left = text[max(0, place - _NAME_REACH) : place]
    start = place - len(left) + len(left.rstrip(_NAME_CHARACTERS))
    name = text[start : after.end("rest")]
    is_flag = name.startswith("-")
    strength = strength_of(name.strip("-.$"))
    before = text[start - 1] if start else "\n"
    if strength is None and "=" in (after["separator"] or ""):
        strength = _by_assignment(name, before)
    if strength is None:
        return None
    if after["space"] is not None and not is_flag and not _NETRC.search(text[max(0, start - 120) : start]):
        return None
    separator = after["separator"] or ""
    if ">" in separator and "=" not in separator and (separator != ">" or before != "<"):  # not an element
        return None
    if after["is"] is not None:
        strength = "possible"
    value, is_quoted = _value(text, after.end(), start, before, after)
    if value is None:
        return None
    scheme = AUTHORIZATION_SCHEME.match(text, value.start, value.end) if value.end > value.start else None
    begin = scheme.end() if scheme else value.start
    secret = text[begin : value.end]
    in_code = not is_quoted and not is_flag and not value.is_data
    done = value.end if value.end - value.start > _LONG_VALUE else place + 1
    if not is_quoted and after["close"] and _NUMBER.fullmatch(secret):  # a number in JSON stays a number
        return None
    if in_code and text[value.end : value.end + 1] in ("(", "["):
        return Outcome(None, done)
    if not is_secret_value(secret, strength, in_code=in_code):
        return Outcome(None, done)
    return Outcome(Span(begin, value.end, PASSWORD, secret), value.end)


def _by_assignment(name: str, before: str) -> Strength | None:
    """Names that only mean a secret in an address or a connection string."""
    word = name.strip("-.$").lower()
    if word == "pwd":
        return "likely"
    return "possible" if word in ("key", "auth") and before in "?&" else None


class _Value(NamedTuple):
    start: int
    end: int
    is_data: bool


def _value(
    text: str, place: int, name_start: int, before: str, after: re.Match[str]
) -> tuple[_Value | None, bool]:
    match = _VALUE.match(text, place)
    if match is None:
        return None, False
    if match["bare"] is None:
        start, end = match.span(match.lastgroup or 0)
        if match["escape"]:
            end = start + len(text[start:end].rstrip("\\"))
        return (_Value(start, end, True) if end > start else None), True
    start, end = match.span("bare")
    if before in "?&;":
        return _Value(start, end, True), False
    line = text.rfind("\n", max(0, name_start - 200), name_start) + 1
    if after["close"] or not _LINE_START.fullmatch(text, max(line, name_start - 200), name_start):
        return (_Value(start, end, False) if end > start else None), False
    whole = _LINE_VALUE.match(text, place)
    if whole is None:
        return None, False
    plain = whole[0].rstrip(";,)")
    is_data = plain == whole[0] and _is_line_of_data(text, after, whole.end())
    return _Value(start, place + len(plain) if is_data else end, is_data), False


def _is_line_of_data(text: str, after: re.Match[str], end: int) -> bool:
    """Whether `NAME=value` or `name: value` is a line of settings rather than of code."""
    separator = after["separator"] or ""
    if separator == "=":
        return True
    return (
        separator.strip() == ":"
        and text[end : end + 1] in ("", "\n", "\r")
        and text[after.end() : end].islower()
    )


_KNOWN_SCHEME: Final = (
    "bearer|basic|token|api-?key|digest|negotiate|ntlm|bot|key|jwt|dpop|hawk|oauth|aws4-[a-z0-9-]+"
)
_AUTHORIZATION: Final = re.compile(
    rf"(?i:authorization)[\"'\]]{{0,2}}+\s{{0,4}}+[:=,]\s{{0,4}}+[\"'`]?+"
    rf"(?:(?P<scheme>(?i:{_KNOWN_SCHEME}))[ \t]{{1,4}}+"
    r"(?P<secret>[^\s\"'`<>\\{}]++(?:,[ \t]?\w{1,40}+=[^\s\"'`]*+)*+)"
    r"|(?P<plain>[A-Za-z0-9._~+/=:-]{8,}+))"
)
_BEARER: Final = re.compile(r"(?i:bearer)[ \t]{1,4}+(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)")
_BASIC: Final = re.compile(r"(?i:basic)[ \t]{1,4}+(?P<secret>[A-Za-z0-9+/]{8,}+={0,2}+)")


def _authorization(text: str, place: int) -> Outcome | None:
    match = _AUTHORIZATION.match(text, place)
    if match is None:
        return None
    group = "plain" if match["secret"] is None else "secret"
    secret = match[group].rstrip(",;.")
    if group == "secret" and len(secret) >= 6:
        wanted = is_secret_value(secret.partition(",")[0], "certain", in_code=True)
    else:
        wanted = is_random(secret)
    start = match.start(group)
    span = Span(start, start + len(secret), "authorization", secret)
    return Outcome(span if wanted else None, match.end())


def _bearer(text: str, place: int) -> Outcome | None:
    match = _BEARER.match(text, place)
    if match is None:
        return None
    secret = match["secret"].rstrip(".")
    wanted = is_secret_value(secret, "likely")
    start = match.start("secret")
    return Outcome(Span(start, start + len(secret), "authorization", secret) if wanted else None, match.end())


def _basic(text: str, place: int) -> Outcome | None:
    """`Basic` and `user:password` in base64."""
    match = _BASIC.match(text, place)
    if match is None:
        return None
    try:
        plain = base64.b64decode(match["secret"]).decode()
    except (binascii.Error, UnicodeDecodeError):
        return Outcome(None, match.end())
    is_pair = ":" in plain and plain.isprintable()
    return _secret_of(match, "authorization") if is_pair else Outcome(None, match.end())


_COOKIE: Final = re.compile(
    r"(?i:(?P<set>set-?)?cookie)[\"'\]]{0,2}+\s{0,4}+[:=]\s{0,4}+[\"'`]?+"
    r"(?P<name>[A-Za-z0-9!#$%&*+.^_|~-]{1,100}+)=(?P<value>[^\s\"'`;<>]{4,}+)"
    r"(?P<more>(?:;[ \t]?[^\r\n\"'`<>]*+)?)"
)


def _cookie(text: str, place: int) -> Outcome | None:
    if text[place - 4 : place].lower() == "set-":
        place -= 4
    match = _COOKIE.match(text, place)
    if match is None:
        return None
    if match["set"]:
        start, end = match.span("value")
    else:
        start, end = match.start("name"), match.end("more")
    secret = text[start:end].rstrip()
    if not is_secret_value(match["value"], "certain"):
        return Outcome(None, match.end())
    return Outcome(Span(start, start + len(secret), COOKIE, secret), match.end())


_PEM_LABEL: Final = r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM: Final = re.compile(
    rf"-----BEGIN {_PEM_LABEL}(?:(?:[^-\"{{}}\[\]]|-(?!----))*+-----END {_PEM_LABEL}|[A-Za-z0-9+/=\\\s]*+)"
)


def _pem(text: str, place: int) -> Outcome | None:
    match = _PEM.match(text, place)
    if match is None:
        return None
    secret = match[0].rstrip()
    return Outcome(Span(place, place + len(secret), "private-key", secret), match.end())


_URL_PASSWORD: Final = re.compile(
    r"://[^\s:/@\"'<>\\]{0,100}+:(?P<secret>[^\s@/\"'<>\\]{1,200}+)@|://(?P<key>[0-9a-f]{32}(?::[0-9a-f]{32})?)@"
)


def _url_password(text: str, place: int) -> Outcome | None:
    match = _URL_PASSWORD.match(text, place)
    if match is None:
        return None
    start, end = match.span(match.lastgroup or 0)
    if not is_secret_value(text[start:end], "certain") and len(text[start:end]) >= 3:
        return None
    return Outcome(Span(start, end, "connection-string", text[start:end]), end)


_SIGNATURE: Final = re.compile(
    r"(?i:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|hmac)=(?P<secret>[A-Za-z0-9%+/_=.-]{16,}+)"
)


def _signature(text: str, place: int) -> Outcome | None:
    head = text[max(0, place - 40) : place]
    start = place - len(head) + len(head.rstrip(_NAME_CHARACTERS))
    if start == 0 or text[start - 1] not in "?&;\"'":
        return None
    match = _SIGNATURE.match(text, start)
    if match is None or not is_random(match["secret"]):
        return None
    return _secret_of(match, "signature")


_HASH: Final = re.compile(
    r"\$(?:2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{53}|(?:1|5|6|apr1)\$(?:rounds=[0-9]{1,9}\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22,86}"
    r"|y\$[A-Za-z0-9./]{1,10}\$[A-Za-z0-9./]{1,86}\$[A-Za-z0-9./]{43}|argon2(?:id|i|d)\$[A-Za-z0-9+/=,.$]{20,250})"
)


def _hash(text: str, place: int) -> Outcome | None:
    match = _HASH.match(text, place)
    return None if match is None else _secret_of(match, "password-hash", 0)


_USER_OPTION: Final = re.compile(
    r"(?:-u|--user|--proxy-user|-U)(?:[ \t]{1,4}|=)?[\"']?[^\s:\"']{0,100}:(?P<secret>[^\s\"']{1,200}+)"
)
_SHORT_OPTION: Final = re.compile(r"-(?P<letter>[pa])(?P<gap>[ \t]{0,4}+)[\"']?(?P<secret>[^\s\"']{1,200}+)")
_COMMANDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "p": (
        ("mysql", "mariadb"),
        ("sshpass", "mongo", "docker login", "podman login", "helm registry login", "az login"),
    ),
    "a": ((), ("redis-cli", "valkey-cli")),
}
"""The commands that take a password right after the letter, and those that take it after a space."""

_COMMAND_REACH: Final = 600


def _command_before(text: str, place: int) -> str:
    """The text before an option in its command."""
    line = text.rfind("\n", max(0, place - _COMMAND_REACH), place)
    while line > 0 and text[line - 1] == "\\":
        line = text.rfind("\n", max(0, place - _COMMAND_REACH), line)
    return text[max(line + 1, place - _COMMAND_REACH) : place]


def _user_option(text: str, place: int) -> Outcome | None:
    """`curl -u user:password`."""
    match = _USER_OPTION.match(text, place + 1)
    if match is None or "curl" not in _command_before(text, place):
        return None
    if not is_secret_value(match["secret"], "certain"):
        return None
    return _secret_of(match, "authorization")


def _short_option(text: str, place: int) -> Outcome | None:
    """`mysql -psecret`, `sshpass -p secret`."""
    match = _SHORT_OPTION.match(text, place + 1)
    if match is None:
        return None
    glued, spaced = _COMMANDS[match["letter"]]
    command = _command_before(text, place)
    if not any(name in command for name in (spaced if match["gap"] else glued)):
        return None
    if not is_secret_value(match["secret"], "certain"):
        return None
    return _secret_of(match, PASSWORD)


_PGPASS: Final = re.compile(
    r":(?:[0-9]{2,5}|\*):[^:\s]{1,64}+:[^:\s]{1,64}+:(?P<secret>[^:\s\"'\\,]{3,200}+)(?=\s|$)"
)


def _pgpass(text: str, place: int) -> Outcome | None:
    """`host:5432:database:user:password`."""
    match = _PGPASS.match(text, place)
    return None if match is None else _secret_of(match, PASSWORD)


_EMAIL: Final = re.compile(r"@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,6}+")
_LOCAL: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-"


def _email(text: str, place: int) -> Outcome | None:
    match = _EMAIL.match(text, place)
    if match is None:
        return None
    left = text[max(0, place - 64) : place]
    local = left[len(left.rstrip(_LOCAL)) :]
    if not local:
        return None
    start = place - len(local)
    return Outcome(Span(start, match.end(), "email", text[start : match.end()]), match.end())


DETECTORS: Final[tuple[tuple[frozenset[str], tuple[bytes, ...], Detector], ...]] = (
    (frozenset({"private-key"}), (b"-----begin ",), _pem),
    (frozenset({"connection-string"}), (b"://",), _url_password),
    (frozenset({"authorization"}), (b"authorization",), _authorization),
    (frozenset({"authorization"}), (b"bearer",), _bearer),
    (frozenset({"authorization"}), (b"basic ",), _basic),
    (frozenset({"authorization"}), (b" -u", b" --user", b" --proxy-user"), _user_option),
    (frozenset({COOKIE}), (b"cookie",), _cookie),
    (frozenset({"signature"}), (b"sig=", b"signature=", b"security-token="), _signature),
    (frozenset({"password-hash"}), (b"$1$", b"$2", b"$5$", b"$6$", b"$y$", b"$apr1$", b"$argon2"), _hash),
    (frozenset({PASSWORD}), (b"pass", b"pwd", b"secret", b"token", b"key", b"cred", b"auth"), _named),
    (frozenset({PASSWORD}), (b" -p", b" -a"), _short_option),
    (frozenset({PASSWORD}), (b":5432:", b":*:"), _pgpass),
    (frozenset({"email"}), (b"@",), _email),
)
"""The kinds, the literals (in lower case) at which it is called, and the function of each detector."""
