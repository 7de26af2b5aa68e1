"""Networks: who was chosen, why and what came of it, the same live, reloaded and replayed."""

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


def route(kind: str, id: str, given: object, why: str = "it fits") -> JsonObject:
    return call("route", primitiveType=kind, primitiveId=id, input=given, selectionReason=why)


def says(words: str) -> JsonObject:
    return {"parts": [{"type": "text", "text": words}]}


def scripted(*steps: JsonObject, name: str = "scripted") -> ScriptedService:
    return ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}), name=name)


def poet() -> Agent:
    return Agent(scripted(call("add", a=3, b=4), says("Seven swans.")), tools=[add], name="poet")


def network(store: Store | None, *steps: JsonObject, **how: object) -> Network:
    return Network(
        scripted(*steps, name="router"),
        agents={"poet": poet()},
        workflows=[brew],
        tools=[add],
        store=store,
        **how,  # type: ignore[arg-type] # by name
    )


WHOLE = (
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


async def test_live_reloaded_and_replayed_are_one_tree(store: Store) -> None:
    chosen = network(store, *WHOLE)
    chunks = await live(chosen)
    messages = await stored(store)
    run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
    replayed = [record.chunk for record in await store.logs.read(run.id) if record.chunk is not None]
    trees = [
        [encode(message.content) for message in fold_run(each, "x", run_id=run.id)]
        for each in (chunks, replayed)
    ]
    assert trees[0] == trees[1] == [encode(message.content) for message in messages[1:]]
    await chosen.session.close()


async def test_every_choice_says_what_why_and_what_came_of_it(store: Store) -> None:
    chosen = network(store, *WHOLE)
    await live(chosen)
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
    task, spoken = agent.final_result.messages
    assert task.content.parts == (TextPart("Write of seven."),)
    assert isinstance(spoken.content.parts[1], ToolCallPart)
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
    await chosen.session.close()


async def test_a_client_is_not_shown_the_routers_turns(store: Store) -> None:
    chosen = network(store, *WHOLE)
    shown = [chunk async for chunk in chosen.stream("t", "Go.")]
    fold = RunFold("x")
    for chunk in shown:
        fold.feed(chunk)
    assert not any(message.internal for message in fold.snapshot())
    assert len(fold.snapshot()) == 4
    await chosen.session.close()


async def test_a_growing_tree_survives_a_checkpoint_at_any_chunk(store: Store) -> None:
    chosen = network(store, route("agent", "poet", "Write."), call("finish", answer="Done."))
    chunks = await live(chosen)
    starts = [place for place, chunk in enumerate(chunks) if encode(chunk).startswith(b'{"type":"start","')]
    one = chunks[starts[1] : starts[2]]  # the message that executes the agent
    whole = Accumulator(id="x")
    for chunk in one:
        whole.feed(chunk)
    for cut in range(len(one)):
        before = Accumulator(id="x")
        for chunk in one[:cut]:
            before.feed(chunk)
        after = Accumulator.resume(before.checkpoint())
        for chunk in one[cut:]:
            after.feed(chunk)
        assert encode(after.snapshot()) == encode(whole.snapshot())
    await chosen.session.close()


ENDS: dict[str, tuple[tuple[JsonObject, ...], JsonObject, str]] = {
    "words without a call are the answer": ((says("Nothing to do."),), {}, "Nothing to do."),
    "who does not exist is not chosen": (
        (route("agent", "painter", "Paint."), call("finish", answer="Alas.")),
        {},
        "Alas.",
    ),
    "there is a limit": (
        (route("tool", "add", {"a": 1, "b": 1}), route("tool", "add", {"a": 1, "b": 1})),
        {"max_iterations": 2},
        "The task was not finished within 2 iterations.",
    ),
}


@pytest.mark.parametrize(("steps", "how", "answer"), ENDS.values(), ids=ENDS)
async def test_how_a_task_ends(
    store: Store, steps: tuple[JsonObject, ...], how: JsonObject, answer: str
) -> None:
    chosen = network(store, *steps, **how)
    await live(chosen)
    last = (await stored(store))[-1]
    assert [part.text for part in last.content.parts if isinstance(part, TextPart)] == [answer]
    await chosen.session.close()


async def test_a_decision_may_be_written_as_json(store: Store) -> None:
    decision = says('{"primitiveType": "tool", "primitiveId": "add", "input": {"a": 20, "b": 1}}')
    scenes = [{"match": "21", "steps": [says("Twenty-one.")]}, {"steps": [decision]}]
    router = ScriptedService(as_script({"scenes": scenes}))
    chosen = Network(router, tools=[add], store=store)
    await live(chosen)
    assert (await stored(store))[-1].content.parts == (TextPart("Twenty-one.", state="done"),)
    await chosen.session.close()


async def test_what_fails_is_told_to_the_router_and_kept(store: Store) -> None:
    bad = scripted({"parts": [{"type": "text", "text": "I tr"}], "error": "no ink"})
    chosen = Network(
        scripted(route("agent", "bad", "Write."), call("finish", answer="It failed.")),
        agents={"bad": bad},
        store=store,
    )
    await live(chosen)
    (failed,) = executions(await stored(store))
    assert failed.final_result is not None
    assert failed.final_result.error == "no ink"
    assert failed.final_result.text == "I tr"
    await chosen.session.close()


async def test_a_model_without_tools_can_be_chosen_too(store: Store) -> None:
    chosen = Network(
        scripted(route("agent", "plain", "Speak."), call("finish", answer="Done.")),
        agents={"plain": scripted(says("Words."))},
        store=store,
    )
    await live(chosen)
    (execution,) = executions(await stored(store))
    assert execution.final_result is not None
    assert [message.content.parts[-1:] for message in execution.final_result.messages] == [
        (TextPart("Speak."),),
        (TextPart("Words.", state="done"),),
    ]
    await chosen.session.close()


async def test_a_router_that_fails_fails_the_run(store: Store) -> None:
    chosen = network(store)
    await live(chosen)
    run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
    assert (run.status, run.error) == ("failed", "the script has no more steps")
    await chosen.session.close()


async def test_both_forms_are_written_for_a_transition(store: Store) -> None:
    chosen = network(store, *WHOLE, strings=True)
    await live(chosen)
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
            (shown,) = dump_ui([read]).payload[0]["parts"]
            (expected,) = dump_ui([message]).payload[0]["parts"]
            assert (shown["state"], shown["output"]) == (expected["state"], expected["output"])
            assert _calls(shown) == _calls(expected)
    (_, agent), (_, tool_), (_, workflow) = found
    assert agent["text"] == "Seven swans."
    assert [message["role"] for message in agent["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert [one["result"] for one in agent["toolCalls"]] == [7]
    assert tool_["result"] == 3
    assert tool_["toolCallId"]
    assert (workflow["runResult"], workflow["runSuccess"]) == ({"cups": 2, "done": True}, True)
    await chosen.session.close()


def _calls(part: JsonObject) -> list[tuple[str, Json]]:
    """The calls under a part, with their outputs."""
    inner = [one for child in part.get("childMessages", ()) for one in child["parts"] if "toolCallId" in one]
    return [(one["toolCallId"], one["output"]) for one in inner]


async def test_networks_hold_networks(store: Store) -> None:
    inner = network(None, route("agent", "poet", "Write."), call("finish", answer="Inner done."))
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
