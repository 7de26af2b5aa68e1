"""Sessions of OpenCode 2: the effect of each record."""

from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
    text_of,
)
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.usage import Usage
from tests.formats.opencode_counts import own_of, read
from tests.tables import each_row

SESSION: JsonObject = {
    "id": "ses_1",
    "projectID": "p1",
    "location": {"directory": "/home/ada/orchard"},
    "title": "Prune the pear tree",
    "version": "2.0.12",
    "time": {"created": 1_000, "updated": 9_000},
}
TOKENS: JsonObject = {"input": 100, "output": 30, "reasoning": 12, "cache": {"read": 20, "write": 10}}
MODEL: JsonObject = {"id": "acme-2", "providerID": "acme", "variant": "default"}


def record(type_: str, number: int, **fields: Json) -> JsonObject:
    return {"id": f"msg_{number}", "type": type_, "time": {"created": number * 1_000}, **fields}


def asked(number: int, text: str, **fields: Json) -> JsonObject:
    return record("user", number, text=text, **{"files": [], **fields})


def answered(number: int, *content: JsonObject, **fields: Json) -> JsonObject:
    own: JsonObject = {"agent": "build", "model": MODEL, "content": list(content), **fields}
    return record("assistant", number, **own)


def tool(call: str = "c1", name: str = "shell", **state: Json) -> JsonObject:
    time = {"created": 2_000, "ran": 2_500, "completed": 3_000}
    own = {"status": "completed", "input": {"command": "ls"}, **state}
    return {"type": "tool", "id": call, "name": name, "executed": False, "state": own, "time": time}


def text_content(*texts: str) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


def unknown_records(builder: LogBuilder) -> list[str]:
    return [finding.what for finding in builder.unknown_records]


def call_in(message: Message) -> ToolCallPart:
    (call,) = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return call


def test_a_conversation() -> None:
    thought = {
        "type": "reasoning",
        "text": "Hm.",
        "state": {"seal": "x"},
        "time": {"created": 1, "completed": 2},
    }
    response = answered(
        2,
        thought,
        {"type": "text", "text": "Done."},
        time={"created": 2_000, "streamed": 4_000, "completed": 5_000},
        finish="stop",
        rawFinish="end",
        cost=0.5,
        tokens=TOKENS,
    )
    records = [SESSION, asked(1, "Prune it"), response, record("idle", 6, outcome="succeeded")]
    messages, builder = read(records)
    assert list(messages) == ["ses_1", "msg_1", "msg_2", "msg_6"]
    response = messages["msg_2"]
    assert isinstance(response, AssistantMessage)
    kept = {"openCode": {"state": {"seal": "x"}, "time": {"start": 1, "end": 2}}}
    assert response.parts == (
        StepStartPart(),
        ReasoningPart("Hm.", id="1", state="done", provider_metadata=kept),
        TextPart("Done.", state="done"),
    )
    assert response.content.usage == Usage(130, 42, 172, 12, 20, 10, raw=TOKENS)
    own = own_of(response)
    assert (own["cost"], own["rawFinish"], own["providerID"], own["generation"]) == (0.5, "end", "acme", 2)
    assert builder.facts == {
        "sessionId": "ses_1",
        "cwd": "/home/ada/orchard",
        "version": "2.0.12",
        "title": "Prune the pear tree",
        "prompt": "Prune it",
        "model": "acme-2",
        "provider": "acme",
        "agentName": "build",
    }
    (turn,) = builder.take_turns()
    assert turn.end == "completed"
    (consumption,) = builder.take_ledger()
    assert (consumption.message_id, consumption.model, consumption.cost) == ("msg_2", "acme-2", 0.5)
    assert not unknown_records(builder)


OUTCOMES: dict[str, tuple[JsonObject, ToolOutput]] = {
    "one text": (tool(content=text_content("a b")), TextOutput("a b")),
    "several texts": (
        tool(content=text_content("a", "Command exited with code 0."), metadata={"exit": 0}),
        ContentOutput((TextPart("a"), TextPart("Command exited with code 0."))),
    ),
    "a command that failed": (
        tool(content=text_content("no", "Command exited with code 1."), metadata={"exit": 1}),
        ErrorTextOutput("no\nCommand exited with code 1."),
    ),
    "a picture": (
        tool(content=[{"type": "file", "uri": "file:///pear.png", "mime": "image/png", "name": "pear.png"}]),
        ContentOutput((ImagePart("file:///pear.png", "image/png", "pear.png"),)),
    ),
    "a failure": (
        tool(status="error", error={"type": "tool.execution", "message": "File not found"}),
        ErrorTextOutput("File not found"),
    ),
    "a refusal": (
        tool(status="error", error={"type": "permission.rejected", "message": "Not that branch"}),
        ExecutionDeniedOutput("Not that branch"),
    ),
    "one that was stopped": (
        tool(status="error", error={"type": "aborted", "message": "Stopped"}),
        InterruptedOutput("aborted", "Stopped"),
    ),
}


@each_row(("call", "output"), OUTCOMES.values(), ids=OUTCOMES)
def test_the_output_of_a_call(call: JsonObject, output: ToolOutput) -> None:
    messages, builder = read([asked(1, "Look"), answered(2, call)])
    result = call_in(messages["msg_2"])
    assert (result.id, result.name, result.input, result.output) == ("c1", "shell", {"command": "ls"}, output)
    assert (result.tool_metadata or {})["openCode"]["time"] == {"start": 2_500, "end": 3_000}
    assert not unknown_records(builder)


def test_an_input_that_is_still_being_written() -> None:
    messages, builder = read([asked(1, "Look"), answered(2, tool(status="streaming", input='{"comm'))])
    assert call_in(messages["msg_2"]).input == '{"comm'
    assert not unknown_records(builder)


def test_a_call_that_the_provider_executed() -> None:
    call = tool() | {"executed": True, "providerState": {"itemId": "i1"}}
    messages, _ = read([asked(1, "Look"), answered(2, call)])
    call = call_in(messages["msg_2"])
    assert call.provider_executed
    assert (call.call_provider_metadata or {})["openCode"]["providerState"] == {"itemId": "i1"}


def test_a_call_names_its_sub_agent() -> None:
    call = tool(name="subagent", content=text_content("Seven."), metadata={"sessionID": "ses_2"})
    messages, _ = read([asked(1, "Count"), answered(2, call)])
    assert (call_in(messages["msg_2"]).tool_metadata or {})["openCode"]["childSessionId"] == "ses_2"


def test_prompts_with_files_agents_and_skills() -> None:
    prompt = asked(
        1,
        "See these",
        files=[
            {"mime": "image/png", "name": "leaf.png", "data": "aGk="},
            {"mime": "text/plain", "name": "a.txt", "uri": "file:///a.txt"},
        ],
        agents=[{"name": "plan"}],
        skills=[{"name": "prune"}],
    )
    messages, builder = read([prompt])
    prompt = messages["msg_1"]
    assert isinstance(prompt, UserMessage)
    assert prompt.type == "text"
    assert prompt.parts == (
        TextPart("See these"),
        ImagePart("data:image/png;base64,aGk=", "image/png", "leaf.png"),
        FilePart("file:///a.txt", "text/plain", "a.txt"),
        DataPart("opencode-agent", {"name": "plan"}),
        DataPart("opencode-skill", {"name": "prune"}),
    )
    assert not unknown_records(builder)


@each_row("kind", ["synthetic", "system", "skill"])
def test_inserted_messages_are_hidden(kind: str) -> None:
    messages, builder = read([asked(1, "Go"), record(kind, 2, text="Mind the rules")])
    message = messages["msg_2"]
    assert isinstance(message, UserMessage)
    assert (message.internal, message.type, text_of(message)) == (True, "event", "Mind the rules")
    assert not unknown_records(builder)
    assert len(builder.take_turns()) == 1


EVENTS: dict[str, tuple[JsonObject, str]] = {
    "a command of the user's": (
        {"type": "shell", "command": "pwd", "status": "exited", "exit": 0, "output": {"output": "/orchard"}},
        "$ pwd\n/orchard",
    ),
    "another agent": ({"type": "agent-switched", "agent": "plan", "previous": "build"}, "Agent: plan"),
    "another model": ({"type": "model-switched", "model": MODEL}, "Model: acme-2"),
    "another folder": ({"type": "location-switched", "location": {"directory": "/b"}}, "Folder: /b"),
    "a compaction": ({"type": "compaction", "status": "completed", "summary": "Pruned."}, "Pruned."),
    "a compaction that failed": (
        {"type": "compaction", "status": "failed", "error": {"type": "x", "message": "Too long"}},
        "Too long",
    ),
}


@each_row(("fields", "text"), EVENTS.values(), ids=EVENTS)
def test_events_are_notices(fields: JsonObject, text: str) -> None:
    event = {**record("", 2), **fields}
    messages, builder = read([asked(1, "Go"), event, event])
    notice = messages["msg_2"]
    assert isinstance(notice, SystemMessage)
    assert (notice.type, notice.internal, text_of(notice)) == ("event", False, text)
    assert notice.parts[-1] == DataPart(f"opencode-{fields['type']}", event)
    assert not unknown_records(builder)


def test_the_usage_of_a_compaction_is_counted() -> None:
    event = record("compaction", 2, status="completed", summary="s", model=MODEL, tokens=TOKENS, cost=0.25)
    _, builder = read([asked(1, "Go"), event])
    (consumption,) = builder.take_ledger()
    assert (consumption.model, consumption.cost, consumption.usage.output_tokens) == ("acme-2", 0.25, 42)


@each_row(
    ("outcome", "end"), [("succeeded", "completed"), ("failed", "failed"), ("interrupted", "interrupted")]
)
def test_how_a_turn_ends(outcome: str, end: str) -> None:
    error = {"type": "provider.no-route", "message": "No model"} if outcome == "failed" else None
    idle = record("idle", 3, outcome=outcome, error=error)
    _, builder = read([asked(1, "Go"), answered(2, {"type": "text", "text": "Hm"}), idle])
    (turn,) = builder.take_turns()
    assert (turn.end, turn.error) == (end, "provider.no-route: No model" if error else None)


def test_an_interrupted_response() -> None:
    stopped = answered(
        2, tool(status="running"), error={"type": "aborted", "message": "Stopped"}, finish="error"
    )
    messages, builder = read([asked(1, "Go"), stopped])
    assert call_in(messages["msg_2"]).output == InterruptedOutput("aborted")
    (turn,) = builder.take_turns()
    assert (turn.end, turn.error) == ("interrupted", "aborted: Stopped")


def test_a_response_that_grows() -> None:
    steps = [
        answered(2, tool(status="streaming", input="{")),
        answered(2, tool(status="running")),
        answered(2, tool(content=text_content("a")), {"type": "text", "text": "Done."}, tokens=TOKENS),
    ]
    grown, _ = read([asked(1, "Go"), *steps], looks={1, 2})
    whole, _ = read([asked(1, "Go"), steps[-1]])
    assert grown == whole


def test_unknown_records_are_kept_and_reported() -> None:
    messages, builder = read([asked(1, "Go"), record("weather", 2, rain=True), answered(3, moon=True)])
    assert unknown_records(builder) == ["unknown record type 'weather'", "unknown field 'moon' of a message"]
    assert any(
        part.name == "opencode-unknown"
        for part in messages["opencode-unknown-1"].parts
        if isinstance(part, DataPart)
    )
    assert own_of(messages["msg_3"])["moon"] is True
