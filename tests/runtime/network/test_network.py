"""Networks: the messages of a task, live and stored, and how a task ends."""

from collections.abc import AsyncIterator

import pytest

from partita.errors import AgentError
from partita.formats.ai_sdk.ui.format import dump as dump_ui
from partita.formats.registry import get_format
from partita.runtime.agent.agent import Agent
from partita.runtime.network.network import Network
from partita.runtime.run_fold import RunFold, fold_run
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.tools.tool import tool
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import AssistantMessage, Message, NetworkExecution, ToolCallPart
from partita.types.parts import TextPart
from tests.formats.mastra_messages import load_v2 as load_mastra


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with await open_store("sqlite:///:memory:") as opened:
        yield opened


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def brew(cups: int) -> JsonObject:
    """Make coffee, step by step."""
    return {"cups": cups, "done": True}


def call(name: str, **input: object) -> JsonObject:
    return {
        "parts": [
            {"type": "tool-call", "id": "", "name": name, "state": "input-available", "input": dict(input)}
        ],
        "usage": {"inputTokens": 2, "outputTokens": 1},
    }


def route(kind: str, id: str, given: object, reason: str = "it fits") -> JsonObject:
    return call("route", primitiveType=kind, primitiveId=id, input=given, selectionReason=reason)


def text_step(text: str) -> JsonObject:
    return {"parts": [{"type": "text", "text": text}]}


def scripted(*steps: JsonObject, name: str = "scripted") -> ScriptedService:
    return ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}), name=name)


def poet() -> Agent:
    return Agent(scripted(call("add", a=3, b=4), text_step("Seven swans.")), tools=[add], name="poet")


def make_network(store: Store | None, *steps: JsonObject, **options: object) -> Network:
    return Network(
        scripted(*steps, name="router"),
        agents={"poet": poet()},
        workflows=[brew],
        tools=[add],
        store=store,
        **options,  # type: ignore[arg-type] # by name
    )


STEPS = (
    route("agent", "poet", "Write of seven.", "it writes"),
    route("tool", "add", {"a": 1, "b": 2}),
    route("workflow", "brew", {"cups": 2}),
    call("finish", answer="All done."),
)


async def stored(store: Store, thread: str = "t") -> tuple[Message, ...]:
    return (await store.messages.list(thread, MessageFilter(internal=None), limit=None)).items


async def live(network: Network, task: str = "Go.") -> list[Chunk]:
    run = await network.start("t", task)
    chunks = [one.chunk async for seen in network.session.follow(run.id, everything=True) for one in seen]
    await network.session.wait(run.id)
    return chunks


def executions(messages: tuple[Message, ...]) -> list[NetworkExecution]:
    return [
        message.content.network_execution
        for message in messages
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None
    ]


async def test_live_chunks_stored_messages_and_the_log_agree(store: Store) -> None:
    network = make_network(store, *STEPS)
    chunks = await live(network)
    messages = await stored(store)
    run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
    replayed = [record.chunk for record in await store.logs.read(run.id) if record.chunk is not None]
    trees = [
        [encode(message.content) for message in fold_run(each, "x", run_id=run.id)]
        for each in (chunks, replayed)
    ]
    assert trees[0] == trees[1] == [encode(message.content) for message in messages[1:]]
    await network.session.close()


async def test_an_execution_has_its_choice_reason_and_result(store: Store) -> None:
    network = make_network(store, *STEPS)
    await live(network)
    messages = await stored(store)
    agent, sum_, coffee = executions(messages)
    assert (agent.primitive_type, agent.primitive_id, agent.selection_reason, agent.iteration) == (
        "agent",
        "poet",
        "it writes",
        1,
    )
    assert agent.final_result is not None
    assert agent.final_result.text == "Seven swans."
    task, response = agent.final_result.messages
    assert task.content.parts == (TextPart("Write of seven."),)
    assert isinstance(response.content.parts[1], ToolCallPart)
    assert sum_.final_result is not None
    assert sum_.final_result.value == 3
    assert coffee.final_result is not None
    assert coffee.final_result.value == {"cups": 2, "done": True}
    assert messages[-1].content.parts == (TextPart("All done.", state="done"),)
    assert [message.internal for message in messages] == [False, *[True, False] * 4]
    run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (10, 5)  # the router's four turns, the poet's
    totals = await store.usage.of_thread("t")
    assert (totals.responses, totals.input_tokens, totals.output_tokens) == (5, 10, 5)
    await network.session.close()


async def test_the_turns_of_the_router_are_not_sent_to_clients(store: Store) -> None:
    network = make_network(store, *STEPS)
    chunks = [chunk async for chunk in network.stream("t", "Go.")]
    fold = RunFold("x")
    for chunk in chunks:
        fold.feed(chunk)
    assert not any(message.internal for message in fold.snapshot())
    assert len(fold.snapshot()) == 4
    await network.session.close()


async def test_an_execution_can_be_resumed_from_a_checkpoint_at_any_chunk(store: Store) -> None:
    network = make_network(store, route("agent", "poet", "Write."), call("finish", answer="Done."))
    chunks = await live(network)
    start_indexes = [
        place for place, chunk in enumerate(chunks) if encode(chunk).startswith(b'{"type":"start","')
    ]
    one = chunks[start_indexes[1] : start_indexes[2]]  # the message that executes the agent
    expected = Accumulator(id="x")
    for chunk in one:
        expected.feed(chunk)
    for cut in range(len(one)):
        before = Accumulator(id="x")
        for chunk in one[:cut]:
            before.feed(chunk)
        after = Accumulator.resume(before.checkpoint())
        for chunk in one[cut:]:
            after.feed(chunk)
        assert encode(after.snapshot()) == encode(expected.snapshot())
    await network.session.close()


ENDS: dict[str, tuple[tuple[JsonObject, ...], JsonObject, str]] = {
    "text without a call is the answer": ((text_step("Nothing to do."),), {}, "Nothing to do."),
    "an unknown primitive is not chosen": (
        (route("agent", "painter", "Paint."), call("finish", answer="Alas.")),
        {},
        "Alas.",
    ),
    "the iteration limit": (
        (route("tool", "add", {"a": 1, "b": 1}), route("tool", "add", {"a": 1, "b": 1})),
        {"max_iterations": 2},
        "The task was not finished within 2 iterations.",
    ),
}


@pytest.mark.parametrize(("steps", "options", "response"), ENDS.values(), ids=ENDS)
async def test_a_task_ends_with_an_answer(
    store: Store, steps: tuple[JsonObject, ...], options: JsonObject, response: str
) -> None:
    network = make_network(store, *steps, **options)
    await live(network)
    last = (await stored(store))[-1]
    assert [part.text for part in last.content.parts if isinstance(part, TextPart)] == [response]
    await network.session.close()


async def test_a_decision_may_be_written_as_json(store: Store) -> None:
    decision = text_step('{"primitiveType": "tool", "primitiveId": "add", "input": {"a": 20, "b": 1}}')
    scenes = [{"match": "21", "steps": [text_step("Twenty-one.")]}, {"steps": [decision]}]
    router = ScriptedService(as_script({"scenes": scenes}))
    network = Network(router, tools=[add], store=store)
    await live(network)
    assert (await stored(store))[-1].content.parts == (TextPart("Twenty-one.", state="done"),)
    await network.session.close()


async def test_a_failed_execution_keeps_its_error_and_text(store: Store) -> None:
    bad = scripted({"parts": [{"type": "text", "text": "I tr"}], "error": "no ink"})
    network = Network(
        scripted(route("agent", "bad", "Write."), call("finish", answer="It failed.")),
        agents={"bad": bad},
        store=store,
    )
    await live(network)
    (failed,) = executions(await stored(store))
    assert failed.final_result is not None
    assert failed.final_result.error == "no ink"
    assert failed.final_result.text == "I tr"
    await network.session.close()


async def test_a_model_without_tools_can_be_chosen(store: Store) -> None:
    network = Network(
        scripted(route("agent", "plain", "Speak."), call("finish", answer="Done.")),
        agents={"plain": scripted(text_step("Words."))},
        store=store,
    )
    await live(network)
    (execution,) = executions(await stored(store))
    assert execution.final_result is not None
    assert [message.content.parts[-1:] for message in execution.final_result.messages] == [
        (TextPart("Speak."),),
        (TextPart("Words.", state="done"),),
    ]
    await network.session.close()


async def test_a_failing_router_fails_the_run(store: Store) -> None:
    network = make_network(store)
    await live(network)
    run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
    assert (run.status, run.error) == ("failed", "the script has no more steps")
    await network.session.close()


async def test_strings_writes_both_forms_of_an_execution(store: Store) -> None:
    network = make_network(store, *STEPS, strings=True)
    await live(network)
    dump = get_format("mastra-v2").dump
    assert dump is not None
    messages = await stored(store)
    found: list[tuple[Json, Json]] = []
    for message, row in zip(messages, dump(messages).payload, strict=True):
        execution = message.content.network_execution if isinstance(message, AssistantMessage) else None
        content = row["content"]
        texts = [part["text"] for part in content["parts"] if part["type"] == "text"]
        strings = [text for text in texts if '"isNetwork":true' in text]
        if execution is None:
            assert not strings
            continue
        assert strings == [message.content.content]
        payload = loads(strings[0])
        assert payload["finalResult"].keys() == content["networkExecution"]["finalResult"].keys()
        found.append((payload["primitiveType"], payload["finalResult"]))
        for form in (content, {"format": 2, "parts": [{"type": "text", "text": strings[0]}]}):
            (read,) = load_mastra([{"id": message.id, "role": "assistant", "content": form}]).messages
            (chunks,) = dump_ui([read]).payload[0]["parts"]
            (expected,) = dump_ui([message]).payload[0]["parts"]
            assert (chunks["state"], chunks["output"]) == (expected["state"], expected["output"])
            assert _calls(chunks) == _calls(expected)
    (_, agent), (_, tool_), (_, workflow) = found
    assert agent["text"] == "Seven swans."
    assert [message["role"] for message in agent["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert [one["result"] for one in agent["toolCalls"]] == [7]
    assert tool_["result"] == 3
    assert tool_["toolCallId"]
    assert (workflow["runResult"], workflow["runSuccess"]) == ({"cups": 2, "done": True}, True)
    await network.session.close()


def _calls(part: JsonObject) -> list[tuple[str, Json]]:
    """The calls of a part, with their outputs."""
    inner = [one for child in part.get("childMessages", ()) for one in child["parts"] if "toolCallId" in one]
    return [(one["toolCallId"], one["output"]) for one in inner]


async def test_networks_can_be_nested(store: Store) -> None:
    inner = make_network(None, route("agent", "poet", "Write."), call("finish", answer="Inner done."))
    outer = Network(
        scripted(route("agent", "inner", "Do it."), call("finish", answer="Outer done.")),
        agents={"inner": inner},
        store=store,
    )
    chunks = await live(outer)
    messages = await stored(store)
    (execution,) = executions(messages)
    assert execution.final_result is not None
    nested = executions(execution.final_result.messages)
    assert [one.primitive_id for one in nested] == ["poet"]
    assert [encode(m.content) for m in fold_run(chunks, "x")] == [encode(m.content) for m in messages[1:]]
    await outer.session.close()


def test_a_network_needs_something_to_choose_from() -> None:
    with pytest.raises(AgentError, match="nothing to choose from"):
        Network(scripted())
    with pytest.raises(AgentError, match="max_iterations is 0"):
        Network(scripted(), tools=[add], max_iterations=0)
