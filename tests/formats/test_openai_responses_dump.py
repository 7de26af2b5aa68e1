"""Messages → requests and responses of the Responses API, with every loss and repair."""

from functools import cache
from typing import Any, Final

from partita.errors import PartitaError
from partita.formats.canonical import load_canonical
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.openai_responses.format import dump, dump_response, load
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import (
    CustomPart,
    ErrorTextOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from partita.types.tool_results import expand
from partita.types.value import Extra
from tests.formats.openai_responses_requests import ASSISTANT, CALLS, HOSTED, ITEMS, OUTPUTS
from tests.leaves import changed, leaves
from tests.sampling import picked
from tests.tables import each_row

HELLO: Final = UserMessage(id="message-1", content="Tide?")
TIDE: Final = ToolCallPart("call_1", "tide", "output-available", {"at": "noon"}, output=TextOutput("3"))


@cache
def item_adapter() -> Any:
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    return TypeAdapter[Any](ResponseInputItemParam)


def dump_step(*parts: AssistantPart) -> tuple[list[JsonObject], list[tuple[str, str]]]:
    """Return the items of a step and the losses by path and severity."""
    dumped = dump([HELLO, AssistantMessage(id="message-2", content=parts)])
    return dumped.payload["input"][1:], [(loss.path, loss.severity) for loss in dumped.losses]


def at(place: int, inside: str = "") -> str:
    return f"$[1].content.parts[{place}]{inside}"


def test_a_plain_conversation_has_no_losses() -> None:
    items, losses = dump_step(TextPart("I look.", state="done"), TIDE, StepStartPart(), TextPart("3 metres"))
    assert [item["type"] for item in items] == ["message", "function_call", "function_call_output", "message"]
    assert losses == []


def valid(item: JsonObject) -> JsonObject:
    """Return the item with members that the official types require and the API does not."""
    if item.get("type") == "message" and item["role"] == "assistant":
        return {"id": "msg_0", "status": "completed", **item}
    content = item.get("content")
    if not is_array(content):
        return item
    return {
        **item,
        "content": [{"detail": "auto", **part} if "image_url" in part else part for part in content],
    }


def test_a_full_conversation_becomes_valid_items() -> None:
    for item in dump(full_conversation()).payload["input"]:
        item_adapter().validate_python(valid(item), strict=False)


def test_every_view_becomes_the_same_request() -> None:
    assert dump(expand(full_conversation())).payload == dump(full_conversation()).payload


def test_every_leaf_of_the_last_response_is_written_or_reported() -> None:
    plain = to_json(full_conversation())
    before = dump_response(load_canonical(plain).messages)
    lost = [
        path
        for path in picked(list(leaves(plain)), 40)
        if (messages := readable(changed(plain, path))) is not None and dump_response(messages) == before
    ]
    assert not lost


def readable(plain: Json) -> tuple[Message, ...] | None:
    try:
        return load_canonical(plain).messages
    except PartitaError:
        return None


REPAIRS: Final[dict[str, tuple[AssistantPart, list[tuple[str, str]]]]] = {
    "an id that is too long": (
        ToolCallPart("c" * 65, "tide", "output-available", {}, output=TextOutput("3")),
        [(at(0, ".id"), "repaired")],
    ),
    "a name with a dot": (
        ToolCallPart("call_1", "sea.tide", "output-available", {}, output=TextOutput("3")),
        [(at(0, ".name"), "repaired")],
    ),
    "a call without a result": (
        ToolCallPart("call_1", "tide", "input-available", {}),
        [(at(0, ".output"), "repaired")],
    ),
    "an interrupted call": (
        ToolCallPart("call_1", "tide", "input-streaming", raw_input='{"a'),
        [(at(0), "lost")],
    ),
    "a JSON output": (
        ToolCallPart("call_1", "tide", "output-available", {}, output=JsonOutput({"metres": 3})),
        [(at(0, ".output"), "changed")],
    ),
    "a failed call": (
        ToolCallPart("call_1", "tide", "output-error", {}, output=ErrorTextOutput("down")),
        [(at(0, ".output"), "changed")],
    ),
    "a title": (
        ToolCallPart("call_1", "tide", "output-available", {}, output=TextOutput("3"), title="Tide"),
        [(at(0, ".title"), "lost")],
    ),
    "an id of another server": (
        TextPart("High", provider_metadata={"openai": {"itemId": "abc"}}),
        [(at(0, ".providerMetadata.openai.itemId"), "lost")],
    ),
    "a streaming text": (TextPart("Hi", state="streaming"), [(at(0, ".state"), "changed")]),
    "reasoning of another provider": (
        ReasoningPart("Moon", provider_metadata={"anthropic": {"signature": "s"}}),
        [(at(0), "lost")],
    ),
    "an uncited source": (SourceUrlPart("s", "https://sea.example"), [(at(0), "lost")]),
    "a custom part of another provider": (CustomPart("moon.phase"), [(at(0), "lost")]),
}


@each_row(("part", "losses"), REPAIRS.values(), ids=REPAIRS)
def test_every_repair_is_reported(part: AssistantPart, losses: list[tuple[str, str]]) -> None:
    items, reported = dump_step(part, StepStartPart(), TextPart("High"))
    assert [one for one in reported if one[0].startswith(at(0))] == losses
    for item in items:
        item_adapter().validate_python(valid(item))


def test_calls_and_outputs_get_the_same_id() -> None:
    items, _ = dump_step(ToolCallPart("c" * 99, "a.b", "output-available", {}, output=TextOutput("3")))
    assert items[0]["call_id"] == items[1]["call_id"]
    assert len(items[0]["call_id"]) <= 64
    assert items[0]["name"].startswith("a_b_")


def test_reasoning_is_written_before_the_item_that_follows_it_or_dropped() -> None:
    reasoning = ReasoningPart(
        "Moon", provider_metadata={"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "e"}}
    )
    items, losses = dump_step(reasoning, TextPart("High"))
    assert [item["type"] for item in items] == ["reasoning", "message"]
    assert losses == []
    assert dump_step(TextPart("High"), reasoning)[1] == [(at(1), "lost")]


def test_events_are_not_sent() -> None:
    dumped = dump([HELLO, UserMessage(id="n", type="event", content="compacted")])
    assert len(dumped.payload["input"]) == 1
    assert [loss.path for loss in dumped.losses] == ["$[1]"]


def test_two_consecutive_responses_are_merged_which_is_reported() -> None:
    twice = [AssistantMessage(id=f"message-{place}", content="High") for place in (1, 2)]
    dumped = dump(twice)
    assert len(load(dumped.payload).messages) == 1
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [("$[1]", "changed")]


def test_an_empty_conversation_is_an_empty_input() -> None:
    assert dump([]) == Dumped({"input": []})


def test_a_request_has_its_tools_and_settings() -> None:
    tools = (
        ToolSpec(name="tide", description="Height", input_schema={"type": "object"}),
        ToolSpec(name="sea.moon", extra=Extra({"cache_control": {"type": "ephemeral"}})),
    )
    dumped = dump([SystemMessage(id="s", content="Be brief."), HELLO], Request(tools, {"model": "tide-1"}))
    assert dumped.payload["model"] == "tide-1"
    assert [tool["strict"] for tool in dumped.payload["tools"]] == [False, False]
    assert [tool["name"][:8] for tool in dumped.payload["tools"]] == ["tide", "sea_moon"]
    reported = {loss.path: loss.severity for loss in dumped.losses}
    assert reported["$.tools[1].name"] == "repaired"
    assert reported["$.tools[1].cache_control"] == "lost"


def test_tools_keep_their_positions() -> None:
    tools = [{"type": "web_search"}, {"type": "function", "name": "tide"}]
    body = {"model": "m", "input": "?", "tools": tools}
    loaded = load(body)
    assert loaded.request is not None
    assert [tool.name for tool in loaded.request.tools] == ["tide"]
    assert loaded.losses == ()
    assert dump(loaded.messages, loaded.request).payload == body


def test_stored_reasoning_is_sent_without_content_unless_store_is_false() -> None:
    reasoning: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": []}
    body: JsonObject = {"model": "m", "input": [reasoning, ASSISTANT[3]]}
    loaded = load(body)
    assert dump(loaded.messages, Request(settings={"model": "m"})).payload == body
    unstored = dump(loaded.messages, Request(settings={"model": "m", "store": False}))
    assert unstored.payload["input"] == [ASSISTANT[3]]
    assert [loss.severity for loss in unstored.losses] == ["lost"]


def test_the_last_response_is_valid() -> None:
    from openai.types.responses import Response

    dumped = dump_response(full_conversation())
    body = Response.model_validate(dumped.payload)
    assert body.output_text == "39 metres."
    assert body.created_at == 1772355606
    assert [loss.path for loss in dumped.losses if loss.severity == "repaired"][-1] == "$.tools"


def test_a_response_of_another_provider_has_its_finish_reason() -> None:
    metadata = {"finishReason": "length", "model": "claude", "responseId": "msg_1"}
    content = AssistantContent(parts=(TextPart("Hi"),), metadata=metadata)
    dumped = dump_response([HELLO, AssistantMessage(id="a", content=content)])
    assert dumped.payload["status"] == "incomplete"
    assert dumped.payload["incomplete_details"] == {"reason": "max_output_tokens"}
    assert (dumped.payload["id"], dumped.payload["model"]) == ("msg_1", "claude")
    assert dumped.losses[0].path == "$[0]"


def test_only_the_last_step_is_written_as_the_response() -> None:
    message = AssistantMessage(id="a", content=[TIDE, StepStartPart(), TextPart("3 metres")])
    dumped = dump_response([message])
    assert [item["type"] for item in dumped.payload["output"]] == ["message"]
    assert dumped.losses[0].path == "$[0].content.parts[0]"


@each_row("items", [ITEMS, [*CALLS, *OUTPUTS], HOSTED], ids=["all", "calls", "hosted"])
def test_written_items_are_read_as_the_same_messages(items: list[JsonObject]) -> None:
    messages = load(items).messages
    assert load(dump(messages).payload).messages == messages
