"""Secrets of every published format and telling name are found in every context and encoding."""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from partita.formats.redaction.encoded_text import view_of
from partita.formats.redaction.kinds import KINDS, WANTED
from partita.formats.redaction.redactor import Redactor, Rules
from partita.formats.redaction.token_formats import TOKEN_FORMATS
from partita.formats.redaction.values import redact, redacted_chunks
from partita.types.chunks import Chunk, TextDelta, TextEnd, TextStart
from partita.types.json import dumps, loads
from partita.types.messages import AssistantMessage, UserMessage
from partita.types.parts import TextPart
from tests.sampling import FULL, sampled
from tests.tables import each_row

from .planted import DISGUISES, Planted, from_pattern, plant_secrets

ALL = list(plant_secrets())
TWICE = ("every character percent-encoded", "query")
"""A query is already percent-encoded; encoding all characters again hides every escape."""


class Case(NamedTuple):
    """A secret in an encoding."""

    planted: Planted
    disguise: str

    @property
    def text(self) -> str:
        return DISGUISES[self.disguise](self.planted.text, self.planted.secret)


def cases() -> Iterator[Case]:
    for one in ALL:
        for disguise in DISGUISES:
            if (disguise, one.context) != TWICE:
                yield Case(one, disguise)


def decoded_view(text: str) -> str:
    return view_of(text, text.encode("ascii", "replace")).text


def leaks(secret: str, text: str) -> bool:
    """Return whether eight characters of a secret are left in the text or in its decoded view."""
    fragments = [secret[start : start + 8] for start in range(0, max(1, len(secret) - 7), 3)]
    shown = decoded_view(text)
    return any(fragment in text or fragment in shown for fragment in fragments)


def test_every_planted_secret_is_found() -> None:
    chosen = sampled(list(cases()), 97, lambda case: (case.planted[:3], case.disguise))
    missed = [case for case in chosen if leaks(case.planted.secret, redact(case.text).value)]
    assert not [(*case.planted[1:3], case.disguise, case.text) for case in missed]
    assert len(chosen) > 250


def test_every_format_and_kind_is_planted() -> None:
    assert {one.kind for one in ALL} == WANTED
    assert {one.source for one in ALL} > {
        f"{token.service} {prefix}" for token in TOKEN_FORMATS for prefix in token.prefixes
    }
    assert {token.kind for token in TOKEN_FORMATS} < {kind.name for kind in KINDS}


PLAIN = [one for one in ALL if one.text.count(one.secret) == 1]


def halves(one: Planted) -> list[str]:
    """Return the text, cut inside the secret."""
    rng = random.Random(one.text)
    start = one.text.index(one.secret)
    place = rng.randint(start, start + len(one.secret) - 1)
    return [one.text[:place], one.text[place:]]


def test_a_secret_in_two_parts_is_found() -> None:
    for one in sampled(PLAIN, 30, lambda one: one[:3]):
        first, second = halves(one)
        message = UserMessage(id="m", content=[TextPart(first or "-"), TextPart(second)])
        now = redact(message).value
        texts = [part.text for part in now.parts if isinstance(part, TextPart)]
        assert not leaks(one.secret, "".join(texts)), one
        assert all(texts), one
        body = {"content": [{"type": "text", "text": text} for text in (first, second)]}
        plain = redact(body).value
        assert not leaks(one.secret, "".join(part["text"] for part in plain["content"])), one


def test_a_secret_in_two_blocks_of_a_stream_is_found() -> None:
    for one in sampled(PLAIN, 60, lambda one: one[:3]):
        chunks: list[Chunk] = []
        for id_, text in zip("ab", halves(one), strict=True):
            middle = len(text) // 2
            chunks += [
                TextStart(id_),
                TextDelta(id_, text[:middle]),
                TextDelta(id_, text[middle:]),
                TextEnd(id_),
            ]
        redactor = Redactor(Rules())
        redacted_chunks(chunks, redactor, "$")
        redactor.start_replacing()
        result = redacted_chunks(chunks, redactor, "$")
        joined = "".join(chunk.delta for chunk in result.chunks if isinstance(chunk, TextDelta))
        assert not leaks(one.secret, joined), one


def test_adjacent_parts_without_a_secret_are_not_joined() -> None:
    message = AssistantMessage(id="m", content=[TextPart("Set the token:"), TextPart("Then restart it.")])
    assert redact(message).value is message
    token = from_pattern(TOKEN_FORMATS[0].expression, random.Random(2))
    parts = (TextPart("the end"), TextPart(f"{token} is it"))
    (_, second) = redact(AssistantMessage(id="m", content=list(parts))).value.parts
    assert second == TextPart("[redacted: api key 1] is it")


def test_the_same_secret_in_another_encoding_has_the_same_mark() -> None:
    secret = "p@ss/w0rd+x9"
    text = (
        f'PASSWORD="{secret}" https://x/?password=p%40ss%2Fw0rd%2Bx9&y {dumps({"password": secret}).decode()}'
    )
    now = redact(text)
    assert now.value.count("[redacted: password 1]") == 3
    assert [one.times for one in now.findings] == [3]


@each_row("name", ["password", "api_key", "DB_PASS", "token", "Authorization", "client_secret"])
def test_json_in_a_text_stays_json(name: str) -> None:
    value = {"a": [{name: 'x9"\\Zq-77-end', "n": 12345678}], name: 12345678, "é\u200b": "\n\x1b[0m"}
    for text in (dumps(value).decode(), dumps(dumps(value).decode()).decode()):
        assert loads(redact(text).value)


def test_a_secret_ends_where_a_string_in_json_ends() -> None:
    for text in (
        """{"a": "password='x9Zq77 end", "b": ["it's"]}""",
        """{"a": "-----BEGIN PRIVATE KEY-----", "b": "-----END PRIVATE KEY-----"}""",
        """{"a": "h:5432:d:u:x9Zq77", "b": 1}""",
    ):
        assert loads(redact(text).value).keys() == {"a", "b"}


def test_redacted_json_stays_json_and_redaction_is_idempotent() -> None:
    for case in sampled(list(cases()), 211, lambda case: (case.planted[:3], case.disguise)):
        once = redact(case.text).value
        assert redact(once).value == once, case
        if case.planted.context in ("JSON", "nested JSON") and case.disguise in ("plain", "escaped in JSON"):
            assert type(loads(once)) is type(loads(case.text)), case


PEM_HEAD = re.compile("-----BEGIN")


def test_a_private_key_without_its_end_is_found() -> None:
    key = next(one.secret for one in ALL if one.source == "PEM RSA ")
    now = redact(key[:200]).value
    assert PEM_HEAD.search(now) is None


@each_row(
    ("value", "plain"),
    [
        (
            {"name": "API_TOKEN", "value": "x9Zq77endK"},
            {"name": "API_TOKEN", "value": "[redacted: password 1]"},
        ),
        (["login", "--password", "x9Zq"], ["login", "--password", "[redacted: password 1]"]),
        (
            {"passwords": ["x9Zq", "swordfish"]},
            {"passwords": ["[redacted: password 1]", "[redacted: password 2]"]},
        ),
        ({"kty": "oct", "k": "x9Zq77endK"}, {"kty": "oct", "k": "[redacted: password 1]"}),
        ({"headers": {"Set-Cookie": "a=b; Path=/"}}, {"headers": {"Set-Cookie": "[redacted: cookie 1]"}}),
    ],
    ids=["a pair", "an option", "a list", "a key in JSON", "a cookie"],
)
def test_secrets_in_json_are_found_by_their_names(value: object, plain: object) -> None:
    assert redact(value).value == plain


FRAGMENTS = [
    *(one.text for one in ALL[::97]),
    *(
        "password=",
        "token: ",
        '"api_key": "',
        "Authorization: Bearer ",
        "Cookie: a=",
        "://a:b@",
        "-----BEGIN ",
    ),
    *(
        '"',
        "'",
        "\\",
        "\\\\",
        "\\n",
        "\\u00",
        "%",
        "%4",
        "\x1b[",
        "\u200b",
        "é",
        "\n",
        " ",
        ",",
        "{",
        "}",
        "&#",
        "=",
        ":",
    ),
]


@settings(max_examples=400 if FULL else 40, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=8))
def test_redaction_of_any_text_is_idempotent_and_json_stays_json(fragments: list[str]) -> None:
    text = "".join(fragments)
    once = redact(text).value
    assert redact(once).value == once
    written = dumps({"a": text, "b": [text]}).decode()
    assert loads(redact(written).value).keys()
    assert isinstance(redact({"a": text, "token": text}).value, dict)
