"""Calls of the tools of Codex: inputs, outputs, and their events."""

from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    SourceUrlPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.formats.codex_counts import own
from tests.formats.codex_examples import Script, read
from tests.tables import each_row

PATCH = "*** Begin Patch\n*** Add File: beds.txt\n+roses\n*** End Patch\n"
CHANGE: JsonObject = {"path": "beds.txt", "kind": "add", "content": "roses", "added": 1, "removed": 0}


def one_call(script: Script) -> ToolCallPart:
    (call,) = read(script.records).calls
    return call


def metadata_of(script: Script) -> JsonObject:
    return own(one_call(script).tool_metadata)


INPUTS: dict[str, tuple[Script, str, Json, JsonObject]] = {
    "a function": (Script().call("c", cmd="ls"), "exec_command", {"cmd": "ls"}, {}),
    "a function of a server": (
        Script().item("function_call", name="plant", namespace="mcp__garden", arguments="{}", call_id="c"),
        "plant",
        {},
        {"namespace": "mcp__garden"},
    ),
    "arguments that are not JSON": (
        Script().item("function_call", name="plant", arguments="{roses", call_id="c"),
        "plant",
        "{roses",
        {"inputEncoding": "text"},
    ),
    "arguments that are not text": (
        Script().item("function_call", name="plant", arguments={"n": 1}, call_id="c"),
        "plant",
        {"n": 1},
        {},
    ),
    "a custom tool": (
        Script().item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c", status="completed"),
        "apply_patch",
        PATCH,
        {"type": "custom_tool_call", "inputEncoding": "text", "changes": [CHANGE]},
    ),
    "a shell of the provider's": (
        Script().item(
            "local_shell_call", call_id="c", status="in_progress", action={"type": "exec", "command": ["ls"]}
        ),
        "local_shell",
        {"type": "exec", "command": ["ls"]},
        {"type": "local_shell_call", "status": "in_progress"},
    ),
    "a search for tools": (
        Script().item("tool_search_call", call_id="c", execution="client", arguments={"query": "rake"}),
        "tool_search",
        {"query": "rake"},
        {"type": "tool_search_call", "execution": "client"},
    ),
    "a patch in a here-document": (
        Script().call("c", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]),
        "shell",
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]},
        {"changes": [CHANGE]},
    ),
    "an unknown field": (
        Script().item("function_call", name="plant", arguments="{}", call_id="c", colour="red"),
        "plant",
        {},
        {"extra": {"colour": "red"}},
    ),
}


@each_row(("script", "name", "input", "metadata"), INPUTS.values(), ids=INPUTS)
def test_inputs(script: Script, name: str, input: Json, metadata: JsonObject) -> None:
    call = one_call(script)
    assert (call.id, call.name, call.input, own(call.tool_metadata)) == ("c", name, input, metadata)


def test_arguments_that_are_not_json_are_reported() -> None:
    script = Script().item("function_call", name="plant", arguments="{roses", call_id="c")
    assert read(script.records).unknown_records == {"arguments of a call that are not JSON": 1}


def test_outputs_find_their_calls_in_any_order() -> None:
    script = Script().call("a").call("b").call("c").output("c", "3").output("a", "1").output("b", "2")
    reading = read(script.records)
    assert [(call.id, call.output) for call in reading.calls] == [
        ("a", TextOutput("1")),
        ("b", TextOutput("2")),
        ("c", TextOutput("3")),
    ]
    assert len(reading.responses) == 1


def test_an_output_without_its_call_is_kept_and_reported() -> None:
    reading = read(Script().output("c", "lonely").records)
    assert reading.unknown_records == {"an output without its call": 1}
    (note,) = reading.messages
    (part,) = note.content.parts
    assert isinstance(part, DataPart)
    assert part.data == {"type": "function_call_output", "call_id": "c", "output": "lonely"}


def test_a_repeated_call_changes_nothing() -> None:
    script = Script().call("c", cmd="ls").output("c", "beds").call("c", cmd="rm")
    reading = read(script.records)
    assert [(call.input, call.output) for call in reading.calls] == [({"cmd": "ls"}, TextOutput("beds"))]
    assert reading.unknown_records == {"a call that was read before": 1}


def test_a_call_without_an_id_gets_one() -> None:
    script = (
        Script()
        .item("function_call", name="a", arguments="{}")
        .item("function_call", name="b", arguments="{}")
    )
    reading = read(script.records)
    assert len({call.id for call in reading.calls}) == 2


def test_the_tools_of_a_search_are_its_output() -> None:
    script = (
        Script()
        .item("tool_search_call", call_id="c", arguments={})
        .item("tool_search_output", call_id="c", tools=[1])
    )
    assert one_call(script).output == JsonOutput({"tools": [1]})


# Events

CUSTOM = Script().item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c").records
PATCHED: JsonObject = {
    "type": "patch_apply_end",
    "call_id": "c",
    "success": True,
    "status": "completed",
    "stdout": "Success.",
    "stderr": "",
    "changes": {
        "/home/ada/beds.txt": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-lilies\n+roses\n+tulips"}
    },
}
CHANGED: JsonObject = {
    "path": "/home/ada/beds.txt",
    "kind": "update",
    "diff": "@@ -1 +1,2 @@\n-lilies\n+roses\n+tulips",
    "added": 2,
    "removed": 1,
}


def patched(*orders: str) -> Script:
    """A patch whose records come in that order."""
    script = Script()
    for order in orders:
        if order == "call":
            script.item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c")
        elif order == "event":
            script.add("event_msg", PATCHED)
        else:
            script.item("custom_tool_call_output", call_id="c", output="Success.")
    return script


@each_row("orders", [("call", "event", "output"), ("call", "output", "event")])
def test_an_event_enriches_its_call_before_and_after_the_output(orders: tuple[str, ...]) -> None:
    call = one_call(patched(*orders))
    assert (call.output, call.preliminary) == (TextOutput("Success."), None)
    assert own(call.tool_metadata)["changes"] == [CHANGED]


def test_the_output_of_an_event_is_preliminary() -> None:
    call = one_call(patched("call", "event"))
    assert call.preliminary is True
    assert call.output == JsonOutput({"status": "completed", "stdout": "Success."})


def test_an_event_without_an_item_is_a_call() -> None:
    call = one_call(patched("event"))
    assert (call.id, call.name, call.preliminary) == ("c", "file_change", None)
    assert own(call.tool_metadata) == {"type": "patch_apply_end", "changes": [CHANGED]}


def test_an_event_of_a_failure_makes_the_output_an_error() -> None:
    script = [*CUSTOM, {"type": "event_msg", "payload": {**PATCHED, "success": False, "status": "failed"}}]
    output = Script().item("custom_tool_call_output", call_id="c", output="Could not.").records
    (call,) = read([*script, *output]).calls
    assert (call.state, call.output) == ("output-error", ErrorTextOutput("Could not."))


MCP: JsonObject = {
    "invocation": {"server": "garden", "tool": "plant", "arguments": {"n": 1}},
    "duration": {"secs": 2, "nanos": 500_000_000},
}
SERVED: dict[str, tuple[Json, ToolOutput, JsonObject]] = {
    "well": ({"Ok": {"content": []}}, TextOutput("Planted."), {}),
    "badly": ({"Err": "no soil"}, ErrorTextOutput("Planted."), {"fullOutput": "no soil"}),
    "badly, by its own flag": (
        {"Ok": {"content": [{"type": "text", "text": "no"}], "isError": True}},
        ErrorTextOutput("Planted."),
        {"failed": True},
    ),
}


@each_row(("result", "output", "metadata"), SERVED.values(), ids=SERVED)
def test_results_of_mcp_servers(result: Json, output: ToolOutput, metadata: JsonObject) -> None:
    script = Script().item(
        "function_call", name="plant", namespace="mcp__garden", arguments="{}", call_id="c"
    )
    script.event("mcp_tool_call_end", call_id="c", result=result, **MCP).output("c", "Planted.")
    call = one_call(script)
    assert call.output == output
    assert own(call.tool_metadata) == {
        "namespace": "mcp__garden",
        "server": "garden",
        "tool": "plant",
        "durationSeconds": 2.5,
        **metadata,
    }


RESULTS: dict[str, tuple[Json, ToolOutput]] = {
    "structured": ({"Ok": {"content": [], "structuredContent": {"n": 1}}}, JsonOutput({"n": 1})),
    "blocks": ({"Ok": {"content": [{"type": "text", "text": "ok"}]}}, ContentOutput((TextPart("ok"),))),
    "an error": ({"Err": "no soil"}, ErrorTextOutput("no soil")),
}


@each_row(("result", "output"), RESULTS.values(), ids=RESULTS)
def test_an_event_of_an_mcp_call_without_an_item_is_a_call(result: Json, output: ToolOutput) -> None:
    call = one_call(Script().event("mcp_tool_call_end", call_id="c", result=result, **MCP))
    assert (call.name, call.input, call.output) == ("plant", {"n": 1}, output)


COMMAND: JsonObject = {
    "type": "CommandExecution",
    "id": "c",
    "command": ["ls"],
    "cwd": "/home/ada",
    "status": "completed",
    "aggregatedOutput": "beds\nshed\n",
    "exitCode": 0,
    "duration": {"secs": 1, "nanos": 0},
}


def test_the_full_output_of_a_truncated_text_is_kept() -> None:
    script = Script().call("c").event("item_completed", item=COMMAND).output("c", "beds … cut")
    call = one_call(script)
    assert call.output == TextOutput("beds … cut")
    assert own(call.tool_metadata) == {"exitCode": 0, "durationSeconds": 1.0, "fullOutput": "beds\nshed\n"}


def test_an_output_that_is_not_truncated_is_kept_once() -> None:
    script = Script().call("c").event("item_completed", item=COMMAND).output("c", "Output:\nbeds\nshed\n")
    assert "fullOutput" not in metadata_of(script)


ENDS: dict[str, tuple[JsonObject, ToolOutput]] = {
    "well": ({}, TextOutput("beds\nshed\n")),
    "with another code": ({"exitCode": 2, "status": "failed"}, ErrorTextOutput("beds\nshed\n")),
    "refused": ({"status": "declined", "aggregatedOutput": ""}, ExecutionDeniedOutput()),
}


@each_row(("fields", "output"), ENDS.values(), ids=ENDS)
def test_commands_inside_another_call_are_separate_calls(fields: JsonObject, output: ToolOutput) -> None:
    script = Script().item("custom_tool_call", name="exec", input="run()", call_id="outer")
    script.event("item_completed", item={**COMMAND, **fields}).item(
        "custom_tool_call_output", call_id="outer", output=""
    )
    outer, inside = read(script.records).calls
    assert (outer.id, inside.id, inside.input) == ("outer", "c", {"command": ["ls"], "cwd": "/home/ada"})
    assert inside.output == output


# Tools of the provider

OPENED: JsonObject = {"type": "open_page", "url": "https://example.org/roses"}
SEARCHES: dict[str, tuple[Script, str]] = {
    "event, then item": (
        Script()
        .event("web_search_end", call_id="ws1", query="https://example.org/roses", action=OPENED)
        .item("web_search_call", status="completed", action=OPENED),
        "ws1",
    ),
    "item, then event": (
        Script()
        .item("web_search_call", id="ws1", status="completed", action=OPENED)
        .event("web_search_end", call_id="ws1", query="https://example.org/roses", action=OPENED),
        "ws1",
    ),
    "the event alone": (
        Script().event("web_search_end", call_id="ws1", query="https://example.org/roses", action=OPENED),
        "ws1",
    ),
}


@each_row(("script", "call_id"), SEARCHES.values(), ids=SEARCHES)
def test_a_search_is_one_call_of_the_provider_with_its_sources(script: Script, call_id: str) -> None:
    reading = read(script.records)
    (call,) = reading.calls
    assert (call.id, call.name, call.provider_executed) == (call_id, "web_search", True)
    assert call.output == JsonOutput({"status": "completed"})
    sources = [part for part in reading.responses[0].parts if isinstance(part, SourceUrlPart)]
    assert [source.url for source in sources] == ["https://example.org/roses"]


def test_a_search_without_any_id_gets_one_and_its_event_adds_none() -> None:
    script = Script().item("web_search_call", status="completed", action={"type": "search", "query": "roses"})
    script.event("web_search_end", call_id="ws9", query="roses", action={"type": "search", "query": "roses"})
    assert one_call(script).input == {"type": "search", "query": "roses"}


def test_results_of_a_search_are_sources() -> None:
    results = [
        {"url": "https://a.example", "title": "A"},
        {"url": "https://b.example"},
        {"url": "https://a.example"},
    ]
    script = Script().event(
        "web_search_end", call_id="w", query="q", action={"type": "search"}, results=results
    )
    sources = [part for part in read(script.records).responses[0].parts if isinstance(part, SourceUrlPart)]
    assert [(source.url, source.title) for source in sources] == [
        ("https://a.example", "A"),
        ("https://b.example", None),
    ]


PICTURES: dict[str, tuple[JsonObject, ToolOutput]] = {
    "made": (
        {"status": "completed", "result": "AA==", "revised_prompt": "a rose"},
        ContentOutput((ImagePart("data:image/png;base64,AA==", "image/png"),)),
    ),
    "not made": ({"status": "failed", "result": ""}, ErrorJsonOutput({"status": "failed"})),
    "being made": ({"status": "generating", "result": ""}, InterruptedOutput("lost")),
}


@each_row(("fields", "output"), PICTURES.values(), ids=PICTURES)
def test_images_of_the_provider(fields: JsonObject, output: ToolOutput) -> None:
    call = one_call(Script().item("image_generation_call", id="ig", **fields))
    assert (call.id, call.name, call.provider_executed, call.output) == (
        "ig",
        "image_generation",
        True,
        output,
    )
