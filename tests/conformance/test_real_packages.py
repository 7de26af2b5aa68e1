"""Generated streams and messages, valid and broken, processed by our code and by the real `ai`."""

from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita import AssistantMessage, Message, ToolCallPart, UserMessage, convert
from partita.agents import MessageList
from partita.formats import to_model_messages
from partita.formats.model_view import OpenCalls
from partita.stream.state import Version
from partita.types import to_json
from partita.types.json import JsonObject
from tests import canonical, strategies
from tests.conformance.bridge import RealPackage
from tests.conformance.comparison import difference
from tests.harness import run
from tests.strategies_model import model_messages

VERSIONS: tuple[Version, ...] = (5, 6, 7)


def check(real: RealPackage, op: str, version: Version, case: JsonObject) -> None:
    theirs = real.ask({"op": op, "version": version, **case})
    ours = run(op, {"id": "generated", **case}, version)
    assert not difference(ours, theirs), difference(ours, theirs)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("valid", [True, False], ids=["valid", "broken"])
@given(data=st.data())
def test_streams_accumulate_alike(
    real: RealPackage, version: Version, valid: bool, data: st.DataObject
) -> None:
    chunks = data.draw(strategies.chunk_streams(version, valid=valid))
    check(real, "accumulate", version, {"chunks": chunks, "trace": True})


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_continued_messages_accumulate_alike(
    real: RealPackage, version: Version, data: st.DataObject
) -> None:
    message, chunks = data.draw(strategies.continued_streams(version))
    check(real, "accumulate", version, {"message": message, "chunks": chunks, "trace": True})


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_chunks_are_refused_alike(real: RealPackage, version: Version, data: st.DataObject) -> None:
    chunks = data.draw(strategies.sse_damage(version))
    ours = run("accumulate", {"id": "generated", "chunks": chunks, "mode": "sse"}, version)
    # A member that an older version does not know may have any value there; we always refuse invalid ones.
    error: JsonObject | None = ours["error"]
    assume(version == 7 or error is None or error["name"] != "DecodeError")
    check(real, "accumulate", version, {"chunks": chunks, "mode": "sse"})


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_messages_convert_alike(real: RealPackage, version: Version, data: st.DataObject) -> None:
    messages = data.draw(strategies.ui_messages(version))
    options: JsonObject = {"ignoreIncompleteToolCalls": data.draw(st.booleans())}
    if data.draw(st.booleans()):
        options["convertDataPart"] = data.draw(st.sampled_from(["type-as-text", "only-with-id", "as-file"]))
    if data.draw(st.booleans()):
        # Version 5 does not give a tool the call of its output, so "content" would be ambiguous.
        how = st.sampled_from(["wrap", None] if version == 5 else ["wrap", "content", None])
        options["tools"] = data.draw(st.dictionaries(st.sampled_from(strategies.TOOL_NAMES), how))
    check(real, "model_messages", version, {"messages": messages, "options": options})


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_every_repaired_conversation_is_accepted_as_a_prompt(
    real: RealPackage, version: Version, data: st.DataObject
) -> None:
    messages = data.draw(
        st.lists(canonical.messages(), max_size=4)
        | strategies.ui_messages(version, valid=True).map(lambda ui: MessageList().add(ui, format="ui"))
        | model_messages(version).map(lambda raw: MessageList().add(raw, format=f"ai-sdk-model-v{version}"))
    )
    open_calls: OpenCalls = data.draw(st.sampled_from(get_args(OpenCalls)))
    flatten_text = data.draw(st.booleans())
    payload = to_model_messages(
        messages, version=version, open_calls=open_calls, flatten_text=flatten_text
    ).payload
    assume(payload)
    theirs = real.ask({"op": "generate", "version": version, "messages": payload})
    assert theirs["error"] is None


def test_an_open_call_is_refused_unless_it_is_repaired(real: RealPackage) -> None:
    call = ToolCallPart("c", "look", "input-available", {})
    messages: list[Message] = [
        UserMessage(id="u", content="Look"),
        AssistantMessage(id="a", content=[call]),
    ]
    for version in (6, 7):
        raw = convert(to_json(messages), "canonical", f"ai-sdk-model-v{version}").payload
        refused = real.ask({"op": "generate", "version": version, "messages": raw})
        assert refused["error"]["name"] == "AI_MissingToolResultsError"
        repaired = to_model_messages(messages, version=version).payload
        assert real.ask({"op": "generate", "version": version, "messages": repaired})["error"] is None


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_messages_validate_alike(real: RealPackage, version: Version, data: st.DataObject) -> None:
    messages = data.draw(strategies.ui_messages(version))
    check(real, "validate", version, {"messages": messages, "options": {}})


@pytest.mark.parametrize("version", VERSIONS)
@given(text=strategies.json_texts())
def test_partial_json_is_read_alike(real: RealPackage, version: Version, text: str) -> None:
    check(real, "partial_json", version, {"text": text})
