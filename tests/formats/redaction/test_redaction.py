"""Secrets are replaced everywhere; values that only look like secrets stay."""

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError, PartitaError
from partita.formats.redaction.custom import Custom
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Finding, Redactor, Rules
from partita.formats.redaction.values import redact, redacted, redacted_chunks
from partita.formats.registry import all_formats, get_format
from partita.types.chunks import Chunk, ReasoningDelta, TextDelta, TextEnd, TextStart, ToolInputDelta
from partita.types.codec import MESSAGES, encode, to_json
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import FilePart, JsonOutput, ReasoningPart, TextOutput, TextPart
from tests.canonical import messages as canonical_messages
from tests.tables import each_row

ALL = frozenset(BY_NAME)

SECRETS: dict[str, str] = {
    "openai": "sk-proj-a8Fj2kLmN0pQrStUvWxYz12345",
    "anthropic": "sk-ant-api03-Zx9-Yw8_Vu7Ts6Rq5Po4Nm3Lk2",
    "aws": "AKIAQ3EGR7XM2NWJ5KLP",
    "github": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "github, fine-grained": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "gitlab": "glpat-x1Y2z3A4b5C6d7E8f9G0",
    "slack": "xoxb-2048-4096-abcdefABCDEF1234",
    "google": "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "stripe": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "npm": "npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "hugging face": "hf_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcN\nLYLInFEX6Ppy1tPf9C\n"
    "-----END RSA PRIVATE KEY-----",
}


def redact_messages(messages: Sequence[Message], rules: Rules) -> tuple[tuple[Message, ...], list[Finding]]:
    redactor = Redactor(rules)
    redacted(tuple(messages), redactor)
    redactor.start_replacing()
    return redacted(tuple(messages), redactor), redactor.findings


def redact_text(text: str, rules: Rules | None = None) -> str:
    (message,), _ = redact_messages([UserMessage(id="m", content=text)], rules or Rules())
    part = message.parts[0]
    assert isinstance(part, TextPart)
    return part.text


@each_row("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_replaced_by_a_mark(secret: str) -> None:
    assert redact_text(f"It is {secret}, keep it.") == (
        redact_text("It is X, keep it.").replace("X", redact_text(secret))
    )
    assert redact_text(secret).startswith("[redacted: ")
    assert secret not in redact_text(f"It is {secret}, keep it.")


NAMED: dict[str, tuple[str, str]] = {
    "an assignment": ("export DB_PASSWORD=hunter2x", "export DB_PASSWORD=[redacted: password 1]"),
    "with quotes": ("api_key: 'abc123def'", "api_key: '[redacted: password 1]'"),
    "in JSON in a text": (r"{\"password\": \"t0psecret\"}", r"{\"password\": \"[redacted: password 1]\"}"),
    "a header": (
        "Authorization: Bearer abcdef0123456789xyz",
        "Authorization: Bearer [redacted: credential 1]",
    ),
    "a URL": ("postgres://me:s3cr3tpw@db/x", "postgres://me:[redacted: password 1]@db/x"),
}


@each_row(("text", "plain"), NAMED.values(), ids=NAMED)
def test_a_value_with_a_telling_name_is_replaced(text: str, plain: str) -> None:
    assert redact_text(text) == plain


ORDINARY = [
    "password: string",
    "password = os.environ['DB']",
    "api_key=$API_KEY",
    "a task-oriented-approach-for-everything-we-do",
    "the secret: nothing",
    "token budget: 12,000 tokens",
    "https://example.org:8080/a@b",
    "me@example.org in /home/alice/x",
    "[redacted: password 1]",
    "password=[redacted: password 1]",
]


@each_row("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_e_mail_addresses_and_user_names_are_replaced_on_request() -> None:
    text = "me@example.org in /home/alice/x and C:\\Users\\alice, /Users/bob"
    assert redact_text(text, Rules(ALL)) == (
        "[redacted: e-mail address 1] in /home/[redacted: user 1]/x and C:\\Users\\[redacted: user 1],"
        " /Users/[redacted: user 2]"
    )


def test_the_same_secret_has_the_same_number_everywhere() -> None:
    messages = [
        UserMessage(id="a", content="password=correct7horse and password=other8pony"),
        UserMessage(id="b", content="It was correct7horse."),
    ]
    (_, second), findings = redact_messages(messages, Rules())
    assert encode(second).decode().count("It was [redacted: password 1].") == 1
    assert [(one.mark, one.times) for one in findings] == [
        ("[redacted: password 1]", 2),
        ("[redacted: password 2]", 1),
    ]
    assert findings[0].places == ["$[0].content.parts[0].text", "$[1].content.parts[0].text"]
    assert "correct7horse" not in findings[0].preview


def test_a_kept_finding_is_not_replaced() -> None:
    message = UserMessage(id="a", content=f"{SECRETS['aws']} {SECRETS['github']}")
    _, findings = redact_messages([message], Rules())
    aws = next(one for one in findings if one.kind == "aws-key")
    (kept,), again = redact_messages([message], Rules(keep=frozenset({aws.id})))
    assert SECRETS["aws"] in encode(kept).decode()
    assert SECRETS["github"] not in encode(kept).decode()
    assert [one.kept for one in again if one.kind == "aws-key"] == [True]


CUSTOM: dict[str, tuple[Custom, str, str]] = {
    "a string": (Custom("Project Heron"), "on Project Heron now", "on [redacted: custom 1] now"),
    "a string of special characters": (Custom("a.b*c"), "a.b*c axbc", "[redacted: custom 1] axbc"),
    "a pattern": (
        Custom(r"CUST-\d+", True),
        "CUST-12 CUST-7 CUST-12",
        "[redacted: custom 1] [redacted: custom 2] [redacted: custom 1]",
    ),
    "alternatives": (Custom(r"heron|egret", True), "egret", "[redacted: custom 1]"),
    "a class": (Custom(r"[a-c]{2,3}x", True), "abx", "[redacted: custom 1]"),
}


@each_row(("custom", "text", "plain"), CUSTOM.values(), ids=CUSTOM)
def test_custom_strings_and_patterns_are_replaced(custom: Custom, text: str, plain: str) -> None:
    assert redact_text(text, Rules(custom=(custom,))) == plain


@each_row("pattern", ["(a+)+$", "(a|a)*b", "", "a*", "[a-", "(?=x)", "\\1", "x" * 501])
def test_a_pattern_with_superlinear_time_is_refused(pattern: str) -> None:
    with pytest.raises(DecodeError):
        Redactor(Rules(custom=(Custom(pattern, True),)))


@settings(max_examples=200)
@given(st.text(alphabet="ab\\d.+*?{}[]|1,2^$-", max_size=12), st.integers(1, 3))
def test_any_accepted_pattern_takes_linear_time(pattern: str, times: int) -> None:
    try:
        redactor = Redactor(Rules(frozenset(), (Custom(pattern, True),)))
    except DecodeError:
        return
    redactor.text("ab1" * 500 * times, "$")


def test_custom_strings_are_replaced_in_numbers() -> None:
    call = ToolCallPart(id="c", name="n", state="input-available", input={"account": 4711000})
    (message,), _ = redact_messages(
        [AssistantMessage(id="m", content=[call])], Rules(custom=(Custom("4711000"),))
    )
    assert b"4711000" not in encode(message)


@each_row("secret", SECRETS.values(), ids=SECRETS)
def test_text_in_a_data_url_is_redacted(secret: str) -> None:
    packed = base64.b64encode(f"key: {secret}!".encode()).decode()
    for url in (f"data:text/plain;base64,{packed}", f"data:text/plain,{quote(secret)}"):
        (message,), _ = redact_messages(
            [UserMessage(id="m", content=[FilePart(url=url, media_type="text/plain")])], Rules()
        )
        part = message.parts[0]
        assert isinstance(part, FilePart)
        body = part.url.partition(",")[2]
        assert not any(form in part.url for form in (secret, quote(secret), packed))
        if "base64" in url:
            assert base64.b64decode(body).decode().startswith("key: [redacted: ")


def test_members_with_telling_names_and_names_of_members_are_replaced() -> None:
    github = SECRETS["github"]
    call = ToolCallPart(
        id="c",
        name="fetch",
        state="output-available",
        input={"password": "short", "headers": {"Authorization": "Bearer abc"}, github: 1},
        output=JsonOutput(value=[{"deep": {"x": github}}]),
        children=(AssistantMessage(id="k", content=[ReasoningPart(github)]),),
    )
    (message,), _ = redact_messages([AssistantMessage(id="m", content=[call])], Rules())
    text = encode(message).decode()
    assert github not in text
    part = to_json(message)["content"]["parts"][0]
    assert part["input"]["password"].startswith("[redacted: password")
    assert part["input"]["headers"]["Authorization"].startswith("Bearer [redacted: password")
    assert (part["state"], part["type"]) == ("output-available", "tool-call")


@given(st.lists(st.integers(1, 9), max_size=12), st.sampled_from(sorted(SECRETS)))
def test_a_secret_in_several_deltas_is_found(sizes: list[int], name: str) -> None:
    text, deltas = f"It is {SECRETS[name]} now.", list[str]()
    for size in sizes:
        deltas.append(text[:size])
        text = text[size:]
    deltas.append(text)
    chunks: list[Chunk] = [
        TextStart("t"),
        *(TextDelta(id="t", delta=delta) for delta in deltas),
        TextEnd("t"),
    ]
    redactor = Redactor(Rules())
    redacted_chunks(chunks, redactor, "$")
    redactor.start_replacing()
    result = redacted_chunks(chunks, redactor, "$")
    joined = "".join(chunk.delta for chunk in result.chunks if isinstance(chunk, TextDelta))
    assert joined == f"It is {redactor.findings[0].mark} now."
    assert len(redactor.findings) == 1
    assert result.torn


def test_deltas_of_different_texts_are_not_joined() -> None:
    half = SECRETS["aws"]
    chunks: list[Chunk] = [
        TextDelta(id="t", delta=half[:10]),
        ReasoningDelta(id="t", delta=half[:10]),
        ToolInputDelta(tool_call_id="t", input_text_delta="{}"),
        TextDelta(id="t", delta=half[10:]),
    ]
    redactor = Redactor(Rules())
    redacted_chunks(chunks, redactor, "$")
    redactor.start_replacing()
    result = redacted_chunks(chunks, redactor, "$")
    assert result.torn == frozenset({0, 3})
    assert result.chunks[1] == chunks[1]


# Written bytes


FIXED = frozenset({"type", "role", "state", "format", "sourceType", "createdAt", "primitiveType"})


def leaves(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if is_object(value):
        return [leaf for name, item in value.items() for leaf in leaves(item, (*path, name))]
    if is_array(value):
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path] if isinstance(value, str) and path[-1] not in FIXED else []


def plant(value: Any, path: tuple[str | int, ...], secret: str) -> Any:
    if not path:
        return f"{value} {secret} "
    copy: Any = dict(value) if is_object(value) else list(value)
    copy[path[0]] = plant(copy[path[0]], path[1:], secret)
    return copy


WRITABLE = [name for name, format_ in all_formats().items() if format_.dump]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(canonical_messages(), min_size=1, max_size=2),
    st.sampled_from(sorted(SECRETS)),
    st.data(),
    st.sampled_from(["plain", "kept strings", "all kinds"]),
)
def test_no_secret_is_in_the_bytes_of_any_format(
    drawn: list[Message], name: str, data: st.DataObject, how: str
) -> None:
    secret = SECRETS[name]
    plain = to_json(drawn)
    places = leaves(plain)
    assume(places)
    for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True)):
        plain = plant(plain, place, secret)
    try:
        messages = MESSAGES.read(plain)
    except PartitaError:
        assume(False)
        return
    rules = {
        "plain": Rules(),
        "all kinds": Rules(ALL),
        "kept strings": Rules(frozenset(), (Custom(secret),)),
    }[how]
    clean, findings = redact_messages(messages, rules)
    assert findings
    for target in WRITABLE:
        dump = get_format(target).dump
        assert dump is not None
        try:
            written = dumps(dump(clean).payload)
        except PartitaError:
            continue
        assert secret.encode() not in written
        assert dumps(secret)[1:-1] not in written


def test_values_in_a_list_are_redacted() -> None:
    message = UserMessage(id="m", content=f"Deploy with {SECRETS['github']}")
    for values in ([message], (message,)):
        result = redact(values)
        assert type(result.value) is type(values)
        assert SECRETS["github"] not in str(result.value)
        assert len(result.findings) == 1


def test_values_without_a_secret_are_returned_unchanged() -> None:
    call = ToolCallPart(
        id="c",
        name="n",
        state="output-available",
        input={"a": [1, {"b": "c"}]},
        output=TextOutput(value="fine"),
    )
    messages = (UserMessage(id="a", content="Hi."), AssistantMessage(id="b", content=[call]))
    clean, findings = redact_messages(messages, Rules(ALL))
    assert clean == messages
    assert clean[0] is messages[0]
    assert not findings
    assert WANTED < ALL
