"""The registered formats, and laws of all of them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from partita.cli.formats import formats
from partita.errors import FormatError, PartitaError
from partita.formats import registry
from partita.formats.conversion import convert
from partita.formats.format import Format
from partita.formats.registry import ALIASES, all_formats, broken_formats, get_format
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import (
    ErrorJsonOutput,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)
from partita.types.usage import Usage
from tests import canonical, strategies
from tests.tables import Failures, each_row

BOTH_WAYS = sorted(name for name, format_ in all_formats().items() if format_.load and format_.dump)
READ = sorted(name for name, format_ in all_formats().items() if format_.load)


def test_every_alias_leads_to_a_format() -> None:
    assert {get_format(alias).name for alias in ALIASES} == set(ALIASES.values())


def test_an_unknown_format_is_refused_with_a_suggestion() -> None:
    with pytest.raises(FormatError, match="ai-sdk-ui-v9") as raised:
        get_format("ai-sdk-ui-v9")
    assert "did you mean 'ai-sdk-ui-v" in raised.value.hint


def test_provider_formats_are_imported_lazily() -> None:
    look = "import sys; from partita.formats.registry import all_formats; all_formats(); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    lazy = {f"partita.formats.{name}" for name in ("anthropic", "gemini", "openai_chat", "openai_responses")}
    assert not lazy & set(shown.stdout.split())


MORSE = Format("morse", "dots and dashes")
TAKEN = Format("plain", "a registered name")
NOT_A_FORMAT = "dots and dashes"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that installs entry points as packages do."""

    def install(**values: str) -> None:
        entries = [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in values.items()]
        monkeypatch.setattr(registry, "entry_points", EntryPoints(entries).select)
        all_formats.cache_clear()

    yield install
    monkeypatch.undo()
    all_formats.cache_clear()


def test_other_packages_add_formats(installed: Callable[..., None]) -> None:
    installed(morse=f"{__name__}:MORSE")
    assert get_format("morse") is MORSE
    assert broken_formats() == {}


BROKEN = {
    "its module is missing": (
        "no_such_module:FORMAT",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "its attribute is missing": (f"{__name__}:NOTHING", "AttributeError: "),
    "it is not a format": (f"{__name__}:NOT_A_FORMAT", "it is not a Format but str"),
    "its name is taken": (f"{__name__}:TAKEN", "there is a format 'plain' already"),
}


@pytest.mark.parametrize(("value", "why"), BROKEN.values(), ids=BROKEN)
def test_a_broken_format_is_reported_and_does_not_affect_others(
    value: str, why: str, installed: Callable[..., None]
) -> None:
    installed(broken=value, morse=f"{__name__}:MORSE")
    assert get_format("morse") is MORSE
    assert get_format("plain").load is not None
    with pytest.raises(FormatError) as raised:
        get_format("broken")
    assert why in raised.value.what
    assert raised.value.where == value
    shown = CliRunner().invoke(formats, [])
    assert "morse" in shown.stdout
    assert "broken of the package" in shown.stderr
    assert why in shown.stderr


IMPOSSIBLE = {
    "a read-only format": ("ui", "legacy", "use one of a2a, "),
}


@each_row(("source", "target", "hint"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_conversions_are_refused(source: str, target: str, hint: str) -> None:
    with pytest.raises(FormatError) as raised:
        convert([], source, target)
    assert hint in raised.value.hint


def without_repeated_text(message: Message) -> Json:
    plain = to_json(message)
    if plain["content"].get("content") == text_of(message):
        del plain["content"]["content"]
    return plain


@given(messages=st.lists(canonical.messages(), max_size=2))
def test_written_messages_are_read_and_written_again(messages: list[Message]) -> None:
    failures = Failures(len(BOTH_WAYS))
    for name in BOTH_WAYS:
        with failures.of(name):
            write_twice(name, messages)
    failures.report()


def write_twice(name: str, messages: list[Message]) -> None:
    """Write, read and write messages: lossless messages are equal, the second payload is the first one."""
    format_ = get_format(name)
    assert format_.load is not None
    assert format_.dump is not None
    before = to_json(tuple(messages))
    try:
        once = format_.dump(messages)
    except PartitaError:
        return
    finally:
        assert to_json(tuple(messages)) == before
    try:
        loaded = format_.load(once.payload)
        again = format_.dump(loaded.messages)
    except PartitaError:
        assert not once.lossless
        return
    if once.lossless:
        assert list(map(without_repeated_text, loaded.messages)) == list(map(without_repeated_text, messages))
    assert again.payload == once.payload or loaded.losses or may_change(name, messages)


OPEN = ToolCallPart("c", "dig", "input-available")
BROKEN_CALL = ToolCallPart("c", "dig", "output-error", raw_input="{", output=ErrorJsonOutput(None))
PICTURE = FilePart("https://example.com/a.png", "image/png", provider_reference={"openai": "file-1"})
INLINE = FilePart("data:text/plain;base64,aGk=", "text/plain", provider_reference={"openai": "file-1"})
UNSUPPORTED = ReasoningFilePart("https://example.com/a.png", "image/png")
EMPTY_RESULT = ToolResultPart("c", "", TextOutput(""))

RARE: dict[str, Message] = {
    "an empty text": AssistantMessage(id="a", content=""),
    "empty reasoning": AssistantMessage(id="a", content=[ReasoningPart(""), OPEN]),
    "empty metadata": SystemMessage(id="a", content=SystemContent(parts=(), provider_metadata={})),
    "a content without parts": SystemMessage(id="a", content=SystemContent(parts=(), content="0")),
    "a call without input": AssistantMessage(id="a", content=[OPEN]),
    "a call with broken input": AssistantMessage(id="a", content=[BROKEN_CALL]),
    "two results without a call": ToolMessage(id="a", content=[EMPTY_RESULT, EMPTY_RESULT]),
    "an uploaded image": UserMessage(id="a", content=[PICTURE]),
    "an image": UserMessage(id="a", content=[ImagePart("https://example.com/a.png")]),
    "an uploaded text": UserMessage(id="a", content=[INLINE]),
    "only reasoning tokens": AssistantMessage(
        id="a", content=AssistantContent(parts=(), usage=Usage(reasoning_tokens=0))
    ),
    "a step with unsupported parts": AssistantMessage(
        id="a", content=[UNSUPPORTED, StepStartPart(), TextPart("lit")]
    ),
}


@each_row("name", BOTH_WAYS)
@each_row("rare", RARE)
def test_rare_messages_are_written_and_read_again(name: str, rare: str) -> None:
    write_twice(name, [RARE[rare]])


def may_change(name: str, messages: list[Message]) -> bool:
    """Return whether a payload may differ after it was read.

    Results do not distinguish two calls of one id. Version 4 has no steps but what follows a call,
    so that reading adds step starts that were not written. Reading makes contradictory calls consistent.
    """
    calls = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    is_ambiguous = len(calls) != len({call.id for call in calls})
    return (
        is_ambiguous
        or name == "ai-sdk-ui-v4"
        or (name in CONSISTENT_STATES and any(map(is_contradictory, calls)))
    )


CONSISTENT_STATES = ("ag-ui", "ai-sdk-model-v5", "ai-sdk-model-v6", "ai-sdk-model-v7")
"""Formats in which the state of a call cannot contradict its other members."""


def is_contradictory(call: ToolCallPart) -> bool:
    """Return whether a call has a result message but no output, or a pending approval in another state."""
    is_asking = call.approval is not None and call.approval.approved is None
    has_message_alone = call.result_message is not None and call.output is None
    return has_message_alone or (is_asking and call.state != "approval-requested")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@given(payload=strategies.json_values(8))
def test_any_json_is_loaded_or_refused(payload: Json) -> None:
    failures = Failures(len(READ))
    for name in READ:
        load = get_format(name).load
        assert load is not None
        with failures.of(name), suppress(PartitaError):
            load(payload)
    failures.report()
