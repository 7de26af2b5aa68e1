"""Rollouts of Codex: roles, the records of a response, turns."""

from datetime import timedelta

from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, SystemMessage, UserMessage, text_of
from partita.types.parts import (
    DataPart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    ReasoningPart,
    StepStartPart,
    TextPart,
)
from tests.formats.codex_counts import own
from tests.formats.codex_examples import MODEL, START, THREAD, Reading, Script, read, usage
from tests.tables import each_row

PICTURE = "data:image/png;base64,AA=="


def texts(reading: Reading) -> list[list[str]]:
    return [
        [part.text for part in response.parts if isinstance(part, TextPart)] for response in reading.responses
    ]


def reasonings(reading: Reading) -> list[ReasoningPart]:
    return [
        part for response in reading.responses for part in response.parts if isinstance(part, ReasoningPart)
    ]


# Texts


def test_a_turn_has_one_prompt_and_one_response() -> None:
    reading = read(Script().meta().turn("t1", "Which day is it?", "Sunday.", 100).records)
    (prompt,), (response,) = reading.prompts, reading.responses
    assert text_of(prompt) == "Which day is it?"
    assert response.parts == (StepStartPart(), TextPart("Sunday.", state="done"))
    assert response.content.metadata == {"model": MODEL, "codex": {"turnId": "t1"}}
    assert response.content.usage is not None
    assert response.content.usage.raw == usage(100)
    assert response.run_id == prompt.run_id
    assert not reading.unknown_records


def test_facts_of_the_thread_come_from_its_header_and_its_turns() -> None:
    script = Script().meta(agent_nickname="Bob", parent_thread_id="p1", forked_from_id="p2")
    reading = read(script.context("t1", cwd="/home/ada/shed").prompt("Dig a hole, please.").records)
    assert reading.builder.facts == {
        "sessionId": THREAD,
        "cwd": "/home/ada/shed",
        "version": "0.150.0",
        "entrypoint": "codex-tui",
        "provider": "openai",
        "gitBranch": "main",
        "gitCommit": "abc123",
        "gitRepository": "https://example.org/garden.git",
        "parentSessionId": "p1",
        "forkedFrom": "p2",
        "agentName": "Bob",
        "model": MODEL,
        "prompt": "Dig a hole, please.",
    }


SPAWNED: JsonObject = {"subagent": {"thread_spawn": {"parent_thread_id": "boss", "agent_nickname": "Eve"}}}
PARENTS: dict[str, tuple[JsonObject, JsonObject]] = {
    "an agent that another agent started": (
        {"source": SPAWNED},
        {"parentSessionId": "boss", "agentName": "Eve"},
    ),
    "a thread that continues another": ({"history_base": {"thread_id": "old"}}, {"forkedFrom": "old"}),
    "a thread that continues itself": ({"history_base": {"thread_id": THREAD}}, {}),
}


@each_row(("fields", "facts"), PARENTS.values(), ids=PARENTS)
def test_the_origin_of_a_thread(fields: JsonObject, facts: JsonObject) -> None:
    learnt = read(Script().meta(**fields).records).builder.facts
    assert {name: learnt.get(name) for name in ("parentSessionId", "forkedFrom", "agentName")} == {
        "parentSessionId": None,
        "forkedFrom": None,
        "agentName": None,
        **facts,
    }


def test_the_name_and_the_model_of_a_thread_can_change() -> None:
    script = Script().meta().event("thread_name_updated", thread_name="Roses")
    script.event("thread_settings_applied", thread_settings={"model": "gpt-other"})
    facts = read(script.records).builder.facts
    assert (facts["title"], facts["model"]) == ("Roses", "gpt-other")


def test_another_model_is_announced() -> None:
    script = Script().meta().context("t1").context("t2", model=MODEL).context("t3", model="gpt-other")
    (notice,) = read(script.records).notices
    assert notice.parts == (
        TextPart("Model: gpt-other"),
        DataPart("codex-model-change", {"from": MODEL, "to": "gpt-other"}),
    )


INJECTED = (
    "<environment_context>\n  <cwd>/home/ada</cwd>\n</environment_context>",
    "<user_instructions>\n\nBe kind.\n\n</user_instructions>",
    "# AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
    "<turn_aborted>\nThe user stopped it.\n</turn_aborted>",
    "  <skill>\nsowing\n</skill>",
)


@each_row("text", INJECTED)
def test_context_with_the_role_user_is_hidden(text: str) -> None:
    (message,) = read(Script().add_message("user", text).records).messages
    assert isinstance(message, UserMessage)
    assert (message.internal, message.type, text_of(message)) == (True, "event", text)


@each_row(
    "start", ["# Context from my IDE setup:\n\n## Open tabs:\n- a.py", "\n# Files mentioned by the user:"]
)
def test_a_thread_is_named_after_the_request_below_the_context_of_an_editor(start: str) -> None:
    reading = read(
        Script().meta().prompt(f"{start}\n\n## My request for Codex:\nDig a hole.\n<image>").records
    )
    assert reading.builder.facts["prompt"] == "Dig a hole."


def test_an_event_marks_text_that_looks_like_context_as_a_prompt() -> None:
    reading = read(Script().meta().prompt(INJECTED[0]).records)
    assert [text_of(prompt) for prompt in reading.prompts] == [INJECTED[0]]


def test_an_item_without_an_event_is_not_a_prompt_if_the_log_has_events() -> None:
    script = Script().meta().prompt("Dig.").answer("Dug.")
    script.start("t2").add_message("user", "Some new kind of context").prompt("Water.")
    reading = read(script.records)
    assert [text_of(prompt) for prompt in reading.prompts] == ["Dig.", "Water."]
    assert [text_of(m) for m in reading.messages if isinstance(m, UserMessage) and m.internal] == [
        "Some new kind of context"
    ]


def test_without_events_the_text_distinguishes_prompts_from_context() -> None:
    reading = read(
        Script()
        .meta()
        .add_message("user", INJECTED[0])
        .add_message("user", "Dig.")
        .add_message("assistant", "Dug.")
        .records
    )
    assert [text_of(prompt) for prompt in reading.prompts] == ["Dig."]


@each_row("role", ["developer", "system"])
def test_instructions_are_kept_and_hidden(role: str) -> None:
    (message,) = read(Script().add_message(role, "Be brief.", "Be kind.").records).messages
    assert isinstance(message, SystemMessage)
    assert (message.internal, message.type) == (True, "event")
    assert message.parts == (TextPart("Be brief."), TextPart("Be kind."))
    assert own(message.content.metadata)["role"] == role


def test_a_message_of_another_agent_names_its_author() -> None:
    content = [{"type": "input_text", "text": "Beds are dug."}]
    reading = read(
        Script().item("agent_message", author="/root/digger", recipient="/root", content=content).records
    )
    (message,) = reading.messages
    assert isinstance(message, UserMessage)
    assert (message.type, text_of(message)) == ("event", "Beds are dug.")
    assert own(message.content.metadata) == {
        "source": "agent",
        "author": "/root/digger",
        "recipient": "/root",
    }


def test_images_of_a_prompt_are_parts_and_their_paths_come_from_the_event() -> None:
    content = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PICTURE}]
    script = Script().item("message", role="user", content=content)
    script.event("user_message", message="What is this?", images=[PICTURE], local_images=["/tmp/leaf.png"])
    (prompt,) = read(script.records).prompts
    assert prompt.parts == (TextPart("What is this?"), ImagePart(PICTURE, "image/png"))
    assert own(prompt.content.metadata)["localImages"] == ["/tmp/leaf.png"]


def test_unknown_content_of_a_prompt_is_kept() -> None:
    content: list[Json] = [{"type": "input_smell", "strength": 3}]
    (prompt,) = read(Script().item("message", role="user", content=content).records).prompts
    assert prompt.parts == (ForeignPart("codex", content[0]),)


ECHOES: dict[str, Script] = {
    "event, then item": Script().event("agent_message", message="Done.").add_message("assistant", "Done."),
    "item, then event": Script().add_message("assistant", "Done.").event("agent_message", message="Done."),
    "text that is masked in one record": Script()
    .event("agent_message", message="[masked 5]")
    .add_message("assistant", "Done."),
    "the event alone": Script().event("agent_message", message="Done."),
    "the event alone, before something else": Script()
    .event("agent_message", message="Done.")
    .add_message("user", "Thanks."),
    "an item of a page of events": Script()
    .event(
        "item_completed",
        item={"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "Done."}]},
    )
    .add_message("assistant", "Done.", id="m"),
}


@each_row("script", ECHOES.values(), ids=ECHOES)
def test_a_response_is_read_once(script: Script) -> None:
    assert texts(read(script.records)) == [["Done."]]


def test_two_equal_responses_are_both_kept() -> None:
    assert texts(read(Script().answer("Again.").answer("Again.").records)) == [["Again.", "Again."]]


@each_row("live", [False, True])
def test_an_item_does_not_repeat_its_event_after_a_pause(live: bool) -> None:
    from partita.formats.codex.rollout import CodexRolloutDecoder
    from partita.formats.log.thread_builder import LogBuilder

    builder = LogBuilder()
    decoder = CodexRolloutDecoder(builder)
    records = Script().answer("Done.").records
    decoder.feed(records[0])
    if live:
        decoder.finish()
    decoder.feed(records[1])
    (response,) = builder.finish()
    assert [part.text for part in response.content.parts if isinstance(part, TextPart)] == ["Done."]


def test_an_event_of_a_prompt_without_its_item_is_a_prompt() -> None:
    reading = read(Script().event("user_message", message="Dig.", images=[PICTURE]).records)
    (prompt,) = reading.prompts
    assert prompt.parts == (TextPart("Dig."), ImagePart(PICTURE, "image/png"))
    assert reading.unknown_records == {"a prompt without its item": 1}


def test_content_items_of_a_response_are_parts_with_their_metadata() -> None:
    content: list[Json] = [
        {"type": "output_text", "text": "One. ", "annotations": [{"at": 1}]},
        {"type": "output_text", "text": "Two."},
        {"type": "output_smell", "strength": 3},
    ]
    reading = read(
        Script().item("message", role="assistant", content=content, id="m1", phase="commentary").records
    )
    metadata = {"id": "m1", "phase": "commentary"}
    assert reading.responses[0].parts[1:] == (
        TextPart(
            "One. ", state="done", provider_metadata={"codex": {"annotations": [{"at": 1}], **metadata}}
        ),
        TextPart("Two.", state="done", provider_metadata={"codex": {**metadata, "continues": True}}),
        DataPart("codex-content", content[2]),
    )
    assert reading.unknown_records == {"unknown content of a response": 1}


# Reasoning

THOUGHTS: dict[str, tuple[Script, str, Json]] = {
    "a summary": (
        Script().add_reasoning("First.", "Second."),
        "First.\n\nSecond.",
        {"encryptedContent": "sealed"},
    ),
    "only encrypted content": (Script().add_reasoning(), "", {"encryptedContent": "sealed"}),
    "nothing at all": (Script().add_reasoning(sealed=None), "", None),
    "the event before it": (
        Script().event("agent_reasoning", text="First.").add_reasoning("First."),
        "First.",
        {"encryptedContent": "sealed"},
    ),
    "the event after it": (
        Script().add_reasoning("First.").event("agent_reasoning", text="First."),
        "First.",
        {"encryptedContent": "sealed"},
    ),
    "the event alone": (Script().event("agent_reasoning", text="First."), "First.", {"source": "event"}),
    "raw content": (
        Script().item("reasoning", id="r", summary=[], content=[{"type": "reasoning_text", "text": "Hm."}]),
        "Hm.",
        {"id": "r"},
    ),
    "raw content beside a summary": (
        Script().item("reasoning", summary=[{"text": "Short."}], content=[{"type": "text", "text": "Long."}]),
        "Short.",
        {"content": ["Long."]},
    ),
    "an item of a page of events": (
        Script()
        .event(
            "item_completed",
            item={"type": "Reasoning", "id": "r", "summary_text": ["Hm."], "raw_content": []},
        )
        .add_reasoning("Hm."),
        "Hm.",
        {"encryptedContent": "sealed"},
    ),
}


@each_row(("script", "text", "metadata"), THOUGHTS.values(), ids=THOUGHTS)
def test_reasoning_is_read_once_and_keeps_its_encrypted_content(
    script: Script, text: str, metadata: Json
) -> None:
    (part,) = reasonings(read(script.records))
    assert part.text == text
    assert part.provider_metadata == (None if metadata is None else {"codex": metadata})


# Turns


def test_turns_begin_with_prompts_and_end_with_their_tasks() -> None:
    script = Script().meta().turn("t1", "Dig.", "Dug.", 10).start("t2").context("t2").prompt("Water.")
    turns = read(
        script.event("turn_aborted", turn_id="t2", reason="interrupted").records
    ).builder.take_turns()
    assert [(turn.position.offset, turn.end, turn.error) for turn in turns] == [
        (300, "completed", None),
        (1100, "interrupted", "interrupted"),
    ]


def test_a_failed_task_has_its_error() -> None:
    script = Script().start("t1").prompt("Dig.").end("t1", error={"message": "No spade."})
    reading = read(script.records)
    assert [(turn.end, turn.error) for turn in reading.builder.take_turns()] == [("failed", "No spade.")]
    assert [text_of(notice) for notice in reading.notices] == ["No spade."]


def test_a_prompt_during_a_task_belongs_to_its_turn() -> None:
    script = (
        Script().start("t1").prompt("Dig.").answer("Digging.").count(10).prompt("Deeper.").answer("Deeper.")
    )
    reading = read(script.end("t1").records)
    assert [text_of(prompt) for prompt in reading.prompts] == ["Dig.", "Deeper."]
    assert len(reading.builder.take_turns()) == 1


def test_a_task_without_a_prompt_does_not_end_a_turn() -> None:
    script = Script().start("t1").prompt("Dig.").event("turn_aborted", turn_id="t1", reason="interrupted")
    script.start("t2").add("compacted", {"message": ""}).end("t2")
    assert [turn.end for turn in read(script.records).builder.take_turns()] == ["interrupted"]


def test_an_abort_is_shown_and_interrupts_running_calls() -> None:
    script = Script().start("t1").prompt("Dig.").call("c1").call("c2").output("c1")
    reading = read(script.event("turn_aborted", turn_id="t1", reason="interrupted").records)
    assert [text_of(notice) for notice in reading.notices] == ["Turn aborted: interrupted"]
    assert [call.output for call in reading.calls if call.id == "c2"] == [InterruptedOutput("aborted")]
    assert reading.calls[0].state == "output-available"


def test_an_output_after_an_abort_is_kept() -> None:
    script = (
        Script()
        .start("t1")
        .prompt("Dig.")
        .call("c1")
        .event("turn_aborted", turn_id="t1", reason="interrupted")
    )
    for live in (False, True):
        reading = read(script.output("c1", "dug").records, live=live)
        assert "an output after its turn was aborted" in reading.unknown_records
        notes = [part for m in reading.messages for part in m.content.parts if isinstance(part, DataPart)]
        assert notes[-1].name == "codex-late-function-call-output"


def test_calls_that_never_ended_are_lost() -> None:
    script = Script().start("t1").prompt("Dig.").call("c1").start("t2").prompt("Water.")
    assert [call.output for call in read(script.records).calls] == [InterruptedOutput("lost")]


def test_an_output_in_a_later_turn_belongs_to_its_call() -> None:
    script = (
        Script()
        .start("t1")
        .prompt("Dig.")
        .call("c1")
        .end("t1")
        .start("t2")
        .prompt("And?")
        .output("c1", "dug")
    )
    (call,) = read(script.records).calls
    assert call.state == "output-available"


COMPACTIONS: dict[str, tuple[Script, list[str]]] = {
    "record and event": (
        Script().add("compacted", {"message": "A garden was dug."}).event("context_compacted"),
        ["codex-compacted"],
    ),
    "the event alone": (Script().event("context_compacted"), ["codex-context-compacted"]),
    "the item of an event": (
        Script()
        .add("compacted", {"message": ""})
        .event("item_completed", item={"type": "ContextCompaction"}),
        ["codex-compacted"],
    ),
    "twice": (
        Script().add("compacted", {"message": ""}).event("context_compacted").event("context_compacted"),
        ["codex-compacted", "codex-context-compacted"],
    ),
}


@each_row(("script", "names"), COMPACTIONS.values(), ids=COMPACTIONS)
def test_a_compaction_is_shown_once(script: Script, names: list[str]) -> None:
    parts = [part for notice in read(script.records).notices for part in notice.parts]
    assert [part.name for part in parts if isinstance(part, DataPart)] == names


def three_turns() -> Script:
    script = Script().meta()
    for number, text in enumerate(["Dig.", "Water.", "Rest."], 1):
        script.turn(f"t{number}", text, f"{text} Done.", number * 10)
    return script


ROLLBACKS: dict[str, tuple[int, list[str]]] = {
    "none": (0, ["Dig.", "Water.", "Rest.", "Prune."]),
    "one turn": (1, ["Dig.", "Water.", "Prune."]),
    "two turns": (2, ["Dig.", "Prune."]),
    "all of them": (3, ["Prune."]),
    "more than there are": (9, ["Prune."]),
}


@each_row(("turns", "prompts"), ROLLBACKS.values(), ids=ROLLBACKS)
def test_a_rollback_starts_a_branch_before_the_dropped_turns(turns: int, prompts: list[str]) -> None:
    script = three_turns().event("thread_rolled_back", num_turns=turns).turn("t4", "Prune.", "Pruned.", 40)
    reading = read(script.records)
    assert len(reading.prompts) == 4  # dropped prompts are kept
    assert [text_of(m) for m in path(reading) if isinstance(m, UserMessage)] == prompts
    assert text_of(path(reading)[-2]) == "Pruned."  # the last one is the note of its end


def test_a_rollback_can_follow_a_rollback() -> None:
    script = three_turns().event("thread_rolled_back", num_turns=1).turn("t4", "Prune.", "Pruned.", 40)
    script.event("thread_rolled_back", num_turns=2).turn("t5", "Sow.", "Sown.", 50)
    assert [text_of(m) for m in path(read(script.records)) if isinstance(m, UserMessage)] == ["Dig.", "Sow."]


def test_a_rollback_of_missing_turns_is_reported() -> None:
    reading = read(Script().meta().event("thread_rolled_back", num_turns=2).records)
    assert reading.unknown_records == {"a rollback of turns that are not there": 1}
    assert [text_of(notice) for notice in reading.notices] == ["2 turns rolled back"]


def path(reading: Reading) -> list[UserMessage | AssistantMessage | SystemMessage]:
    """The path from the root to the last message."""
    known = {message.id: message for message in reading.messages}
    path_of_messages = [reading.messages[-1]]
    while path_of_messages[0].parent_id:
        path_of_messages.insert(0, known[path_of_messages[0].parent_id])
    return [m for m in path_of_messages if isinstance(m, UserMessage | AssistantMessage | SystemMessage)]


# Records


def test_the_oldest_version_has_items_without_envelopes_and_times() -> None:
    records: list[JsonObject] = [
        {
            "id": THREAD,
            "timestamp": "2025-07-01T09:00:00.000Z",
            "instructions": None,
            "git": {"branch": "old"},
        },
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": INJECTED[0]}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Dig."}]},
        {"record_type": "state", "kept": 1},
        {"type": "function_call", "name": "shell", "arguments": '{"command": ["dig"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "dug"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Dug."}]},
    ]
    reading = read(records)
    assert [text_of(prompt) for prompt in reading.prompts] == ["Dig."]
    assert [(call.name, call.input) for call in reading.calls] == [("shell", {"command": ["dig"]})]
    assert texts(reading) == [[], ["Dug."]]
    assert (reading.builder.facts["sessionId"], reading.builder.facts["gitBranch"]) == (THREAD, "old")
    assert reading.builder.first_time == reading.builder.last_time
    assert not reading.unknown_records


def test_times_are_those_of_the_records() -> None:
    reading = read(Script().meta().prompt("Dig.").answer("Dug.").records)
    assert reading.prompts[0].created_at == START + timedelta(seconds=2)
    assert reading.builder.first_time == START + timedelta(seconds=1)
    assert reading.builder.last_time == START + timedelta(seconds=5)


STRANGE: dict[str, tuple[JsonObject, str]] = {
    "a record": ({"type": "weather", "payload": {"rain": True}}, "unknown record type 'weather'"),
    "a record without a type": ({"payload": {}}, "unknown record type None"),
    "a record without an envelope": ({"type": "weather", "rain": True}, "unknown record type 'weather'"),
    "an item": ({"type": "response_item", "payload": {"type": "smell"}}, "unknown item 'smell'"),
    "an item without a type": ({"type": "response_item", "payload": {}}, "unknown item None"),
    "an event": ({"type": "event_msg", "payload": {"type": "rain_started"}}, "unknown event 'rain_started'"),
    "an event without a type": ({"type": "event_msg", "payload": {}}, "an event without a type"),
    "an item of an event": (
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Smell"}}},
        "unknown item 'smell' of an event",
    ),
    "a field of the envelope": (
        {"type": "world_state", "payload": {}, "colour": "red"},
        "unknown field 'colour' of a record",
    ),
    "a field of an event": (
        {"type": "event_msg", "payload": {"type": "token_count", "info": None, "colour": "red"}},
        "unknown field 'colour' of token_count",
    ),
    "a field of an event with an item": (
        {
            "type": "event_msg",
            "payload": {"type": "item_completed", "item": {"type": "Plan"}, "colour": "red"},
        },
        "unknown field 'colour' of item_completed",
    ),
    "a field of an output": (
        {"type": "response_item", "payload": {"type": "tool_search_output", "call_id": "c", "colour": "red"}},
        "unknown field 'colour' of tool_search_output",
    ),
}


@each_row(("record", "what"), STRANGE.values(), ids=STRANGE)
def test_unknown_records_are_kept_and_reported(record: JsonObject, what: str) -> None:
    reading = read([record])
    assert reading.unknown_records[what] == 1
    kept = [part for message in reading.messages for part in message.content.parts]
    assert all(isinstance(part, DataPart) for part in kept)
    assert kept


@each_row("role", ["user", "developer", "assistant"])
def test_an_unknown_field_of_a_message_stays_with_it(role: str) -> None:
    reading = read(Script().add_message(role, "Hm.", colour="red").records)
    (message,) = reading.messages
    holder = message.parts[1] if isinstance(message, AssistantMessage) else message.content
    metadata = holder.provider_metadata if isinstance(holder, TextPart) else message.content.metadata
    assert own(metadata)["extra"] == {"colour": "red"}
    assert reading.unknown_records == {"unknown field 'colour' of message": 1}


@each_row("kind", ["world_state", "token_usage_record", "inter_agent_communication"])
def test_records_of_state_are_kept(kind: str) -> None:
    reading = read(Script().add(kind, {"x": 1}).records)
    assert [message.content.parts for message in reading.messages] == [
        (DataPart(f"codex-{kind.replace('_', '-')}", {"x": 1}),)
    ]
    assert not reading.unknown_records


@each_row("kind", ["ghost_snapshot", "compaction"])
def test_items_of_state_are_kept(kind: str) -> None:
    reading = read(Script().item(kind, x=1).records)
    assert [message.internal for message in reading.messages] == [True]
    assert not reading.unknown_records


NOTICES: dict[str, tuple[JsonObject, str]] = {
    "an error": ({"type": "error", "message": "No rain."}, "No rain."),
    "a review begins": ({"type": "entered_review_mode", "user_facing_hint": "the beds"}, "the beds"),
    "a review ends": ({"type": "exited_review_mode", "review_output": {"findings": []}}, ""),
}


@each_row(("event", "text"), NOTICES.values(), ids=NOTICES)
def test_notices_are_shown(event: JsonObject, text: str) -> None:
    (notice,) = read(Script().add("event_msg", event).records).notices
    assert text_of(notice) == text
    assert [part.data for part in notice.parts if isinstance(part, DataPart)] == [event]


def test_items_with_the_same_id_are_read_once() -> None:
    script = (
        Script()
        .add_message("assistant", "Done.", id="m1")
        .add_message("user", "Thanks.")
        .add_message("assistant", "Done.", id="m1")
    )
    reading = read(script.records)
    assert texts(reading) == [["Done."]]
    assert reading.unknown_records == {"an item that was read before": 1}


def test_an_invalid_time_loses_only_the_time() -> None:
    records = Script().add_message("assistant", "Done.").records
    reading = read([{**records[0], "timestamp": "yesterday"}])
    assert texts(reading) == [["Done."]]
    assert reading.unknown_records == {"a time that cannot be read": 1}


def test_citations_of_memories_are_kept() -> None:
    script = Script().event("agent_message", message="Done.", memory_citation={"entries": []})
    kept = [
        part for m in read(script.records).messages for part in m.content.parts if isinstance(part, DataPart)
    ]
    assert [part.name for part in kept] == ["codex-agent-message"]


def test_limits_are_kept_when_they_change() -> None:
    script = Script().count(10, rate_limits={"primary": 1}).count(20, rate_limits={"primary": 1})
    script.count(30, rate_limits={"primary": 2})
    parts = [
        part for m in read(script.records).messages for part in m.content.parts if isinstance(part, DataPart)
    ]
    assert [part.data for part in parts] == [{"primary": 1}, {"primary": 2}]
