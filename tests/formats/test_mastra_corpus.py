"""Recorded Mastra messages with known readings."""

from collections.abc import Callable

from partita.formats.ai_sdk.ui import format as ui
from partita.formats.format import Loaded
from partita.formats.mastra.network import ROUTING, structured
from partita.stream.state import Version
from partita.types.codec import decode_message, encode
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, NetworkExecution, ToolCallPart
from partita.types.parts import DataPart, JsonOutput, TextOutput
from partita.types.tool_results import expand
from tests import recordings
from tests.formats.mastra_messages import dump_v2, load_v1, load_v2
from tests.tables import each_row


def cases(name: str) -> list[JsonObject]:
    return recordings.cases(f"mastra/{name}.jsonl")


def row_of(case: JsonObject) -> JsonObject:
    """Return the stored message of a case; a bare payload is the text of an assistant."""
    given = case["input"]
    if is_object(given):
        return given
    return {
        "id": "m",
        "role": "assistant",
        "content": {"format": 2, "parts": [{"type": "text", "text": given}]},
    }


def describe_execution(execution: NetworkExecution, wanted: JsonObject) -> JsonObject:
    """Describe an execution with the members of the recording."""
    result = execution.final_result
    assert result is not None
    extra: JsonObject = dict(result.extra or {})
    found: JsonObject = {
        "primitiveType": execution.primitive_type,
        "primitiveId": execution.primitive_id,
        "selectionReason": execution.selection_reason,
        "input": execution.input,
        "text": result.text,
        "toolCalls": [describe_call(call) for call in result.tool_calls],
        "messageCount": len(expand(result.messages)),
        "result": result.value,
        "toolCallId": extra.get("toolCallId"),
    }
    if "run" in wanted:
        found["run"] = describe_run(result.value, extra)
    return {key: found[key] for key in wanted}


def describe_call(call: ToolCallPart) -> JsonObject:
    output = call.output
    result = {"result": output.value} if isinstance(output, TextOutput | JsonOutput) else {}
    return {"toolCallId": call.id, "toolName": call.name, "args": call.input, **result}


def describe_run(value: Json, extra: JsonObject) -> JsonObject:
    return {
        "runId": extra["runId"],
        "success": extra["runSuccess"],
        "status": value["status"],
        "steps": [name for name in value["steps"] if name != "input"],
        "result": value.get("result"),
        "chunkCount": len(extra["chunks"]),
    }


def describe(message: Message, wanted: JsonObject) -> JsonObject:
    """Describe a message with the members of the recording."""
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        return describe_execution(message.content.network_execution, wanted)
    found: JsonObject = {"internal": message.internal}
    metadata = message.content.metadata
    if is_object(metadata) and "completionResult" in metadata:
        found["completion"] = metadata["completionResult"]
    for part in message.parts:
        if isinstance(part, DataPart) and part.name == ROUTING:
            assert message.type == "event"
            found["routing"] = part.data
    return found


def test_network_payloads_are_read_as_recorded() -> None:
    wrong: dict[str, JsonObject] = {}
    for case in cases("network-payloads"):
        loaded = load_v2(row_of(case))
        assert loaded.lossless, case["id"]
        (message,) = loaded.messages
        found = describe(message, case["reading"])
        if found != case["reading"]:
            wrong[case["id"]] = found
        if isinstance(case["input"], str) and isinstance(message, AssistantMessage):
            read = structured(AssistantMessage(id="m", content=case["input"]))
            execution = read.content.network_execution if isinstance(read, AssistantMessage) else None
            assert execution == message.content.network_execution
    assert not wrong


LOADERS: dict[str, Callable[[Json], Loaded]] = {"db": load_v2, "v1": load_v1}


@each_row("view", LOADERS)
def test_every_message_of_a_list_is_loaded(view: str) -> None:
    for case in cases("message-list"):
        rows = case["expected"].get(view)
        if not is_array(rows):
            continue
        loaded = LOADERS[view](rows)
        assert loaded.lossless, case["id"]
        for message in loaded.messages:
            assert structured(message) is None
            assert decode_message(encode(message)) == message


VERSIONS: tuple[Version, ...] = (5, 6, 7)


@each_row("version", VERSIONS)
def test_every_ui_message_round_trips_through_a_row(version: Version) -> None:
    for case in cases("ui-roundtrip"):
        (message,) = ui.load([case["input"]]).messages
        row = dump_v2([message])
        back = load_v2(row.payload)
        assert row.lossless, case["id"]
        assert back.lossless, case["id"]
        drawn, direct = (ui.dump([one], version, repair=False) for one in (back.messages[0], message))
        assert drawn.payload == direct.payload, case["id"]
        assert direct.losses or drawn.payload == [case["input"]], case["id"]


def test_every_ui_message_stored_as_v2_round_trips() -> None:
    for case in cases("ui-roundtrip"):
        message = case["input"]
        content = {"format": 2, "parts": message["parts"], "metadata": message["metadata"]}
        loaded = load_v2({"id": message["id"], "role": message["role"], "content": content})
        assert loaded.lossless, case["id"]
        assert ui.dump(loaded.messages, repair=False).payload == [message], case["id"]


DIFFERENT = {"nh-0011"}
"""Recordings whose calls are in separate messages, which the old UI ignored."""


def test_networks_are_shown_as_in_the_old_ui() -> None:
    wrong: dict[str, Json] = {}
    for case in cases("network-history"):
        if case["kind"] != "network-history":
            continue
        loaded = ui.load(case["input"])
        assert loaded.lossless, case["id"]
        for message, shown in zip(loaded.messages, case["expected"], strict=True):
            found = shown_run(structured(message) or message)
            is_run = bool(shown["parts"]) and shown["parts"] != to_json_parts(message)
            if found != (recorded_run(shown["parts"][0]) if is_run else None):
                wrong[case["id"]] = found
    assert wrong.keys() == DIFFERENT & {case["id"] for case in cases("network-history")}


def to_json_parts(message: Message) -> Json:
    """Return the parts of a message as in the old API."""
    return ui.dump([message], repair=False).payload[0]["parts"]


def shown_run(message: Message) -> JsonObject | None:
    """Return what the UI shows of a network execution: its name, input, calls and answer."""
    run = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if run is None or run.final_result is None:
        return None
    return {
        "name": run.primitive_id,
        "input": run.input,
        "calls": [(call.id, call.name, call.input) for call in run.final_result.tool_calls],
        "answer": run.final_result.text or "",
    }


def recorded_run(part: JsonObject) -> JsonObject:
    children = part["output"]["childMessages"]
    calls = [child for child in children if child["type"] == "tool"]
    return {
        "name": part["toolName"],
        "input": part["input"],
        "calls": [(call["toolCallId"], call["toolName"], call["args"]) for call in calls],
        "answer": part["output"]["result"],
    }
