"""Sub-agents in the file of the conversation: among its lines, or in its progress."""

import pytest

from partita.formats.log import thread_builder
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, ToolCallPart, text_of
from tests.logs.claude_session import Reading, Session, read, task, text, use
from tests.tables import each_row

LIVE = pytest.mark.parametrize("live", [False, True], ids=["at once", "live"])


def helper(prompt: str, *, mark: str = "a", agent: str | None = None, call: str | None = None) -> Session:
    """The lines of a sub-agent: its prompt, a call, and its response."""
    session = Session(mark=mark, agent=agent)
    session.sidechain = True
    session.prompt(prompt, parent=None).answer(calls=[use(call or f"{mark}-c1", "Grep")])
    return session.result(call or f"{mark}-c1", "found").answer(text=f"{prompt}: done")


def children(reading: Reading, call: str) -> list[str]:
    """The texts under a call."""
    return [text_of(child) for child in reading.calls[call].children if text_of(child)]


def under(message: Message) -> dict[str, int]:
    """The number of conversation messages nested under each call of a message."""
    return {
        part.id: sum(not child.internal for child in part.children)
        for part in message.content.parts
        if isinstance(part, ToolCallPart)
    }


@LIVE
def test_lines_without_an_agent_belong_to_the_call_with_their_prompt(live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "find flour"), task("t2", "find salt ")])
    flour, salt = helper("find flour", mark="a"), helper("find salt", mark="b")
    for pair in zip(salt.records, flour.records, strict=True):  # both run at the same time
        session.records += pair
    session.result("t2").result("t1").answer(text="Both.")
    reading = read(session, live=live)
    assert children(reading, "t1") == ["find flour", "find flour: done"]
    assert children(reading, "t2") == ["find salt", "find salt: done"]
    assert reading.calls["a-c1"].state == "output-available"
    assert not reading.log.builder.orphans()
    assert reading.parents == {"u-1": "", "msg-u-1": "u-1", "msg-u-2": "msg-u-1"}


@LIVE
def test_two_calls_with_the_same_prompt_have_a_sub_agent_each(live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look"), task("t2", "look")])
    session.records += helper("look", mark="a").records + helper("look", mark="b").records
    reading = read(session.result("t1").result("t2"), live=live)
    assert under(reading.responses[0]) == {"t1": 3, "t2": 3}
    assert not reading.log.builder.orphans()


@LIVE
@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_named_lines_belong_to_the_call_whose_result_names_them(name: str, live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look", name)])
    session.records += helper("another prompt", agent="a1").records
    session.result("t1", "ok", toolUseResult={"status": "completed", "agentId": "a1"}).answer(text="Good.")
    reading = read(session, live=live)
    assert children(reading, "t1") == ["another prompt", "another prompt: done"]
    assert not reading.unknown_records


def progress_of(agent: str, call: str, record: JsonObject) -> tuple[str, str, JsonObject]:
    return call, "agent_progress", {"agentId": agent, "prompt": "look", "message": record}


@LIVE
def test_progress_contains_a_sub_agent(live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    for record in helper("look", agent="a1").records:
        call, kind, data = progress_of("a1", "t1", record)
        session.progress(call, kind, **data)
        session.progress(call, kind, **data)  # progress is repeated
    reading = read(session.result("t1").answer(text="Good."), live=live)
    assert children(reading, "t1") == ["look", "look: done"]
    assert under(reading.responses[0]) == {"t1": 3}
    assert [one.key for one in reading.ledger].count("msg-a-1:req-msg-a-1") == 1
    assert not reading.unknown_records


@LIVE
def test_a_sub_agent_may_start_another(live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "outer")])
    outer = Session(mark="o", agent="outer").prompt("outer", parent=None).answer(calls=[task("t2", "inner")])
    session.records += outer.records + helper("inner", agent="inner").records
    outer.records = []
    outer.result("t2", "ok", toolUseResult={"agentId": "inner"}).answer(text="outer: done")
    session.records += outer.records
    session.result("t1", "ok", toolUseResult={"agentId": "outer"}).answer(text="Good.")
    reading = read(session, live=live)
    assert children(reading, "t1") == ["outer", "outer: done"]
    assert children(reading, "t2") == ["inner", "inner: done"]
    assert under(reading.responses[0]) == {"t1": 3}


@LIVE
@pytest.mark.parametrize("turns", [0, 1, 20])
def test_a_sub_agent_that_continues_after_its_call_is_under_it(turns: int, live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    session.result("t1", "started", toolUseResult={"status": "async_launched", "agentId": "a1"})
    session.answer(text="It looks.")
    for number in range(turns):
        session.turn(f"And? {number}")
    session.records += helper("look", agent="a1").records
    session.prompt("<task-notification><tool-use-id>t1</tool-use-id></task-notification>").turn("Thanks")
    reading = read(session, live=live)
    assert children(reading, "t1") == ["look", "look: done"]
    assert not reading.log.builder.orphans()


def test_a_sub_agent_of_two_calls_is_under_the_first() -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    session.records += helper("look", agent="a1").records
    session.result("t1", toolUseResult={"agentId": "a1"}).answer(calls=[use("t2", "Task", {"resume": "a1"})])
    session.result("t2", toolUseResult={"agentId": "a1"})
    reading = read(session)
    assert [under(response) for response in reading.responses] == [{"t1": 3}, {"t2": 0}]


def lost_call() -> Session:
    session = Session().prompt("Bake")
    for record in helper("look", agent="a1").records:
        call, kind, data = progress_of("a1", "gone", record)
        session.progress(call, kind, **data)
    return session.answer(text="Good.")


def no_call() -> Session:
    session = Session().prompt("Bake")
    session.records += helper("look", agent="a1").records
    return session.answer(text="Good.")


def no_call_no_name() -> Session:
    session = Session().prompt("Bake").answer(calls=[task("t1", "something else")])
    session.records += helper("look", mark="a").records
    return session.result("t1")


def under_itself() -> Session:
    session = Session().prompt("Bake")
    agent = Session(mark="a", agent="a1").prompt("look", parent=None).answer(calls=[task("t9", "more")])
    session.records += agent.result("t9", toolUseResult={"agentId": "a1"}).answer(text="look: done").records
    return session


ORPHANS = {
    "a call that is not there": (lost_call(), "a1"),
    "no call": (no_call(), "a1"),
    "no call, no name": (no_call_no_name(), "a-1"),
    "its own call": (under_itself(), "a1"),
}


@LIVE
@pytest.mark.parametrize(("session", "name"), ORPHANS.values(), ids=ORPHANS)
def test_a_sub_agent_that_no_call_claims_is_not_lost(session: Session, name: str, live: bool) -> None:
    reading = read(session, live=live)
    orphans = reading.log.builder.orphans()
    assert list(orphans) == [name]
    assert [text_of(message) for message in orphans[name] if text_of(message)] == ["look", "look: done"]
    assert reading.log.builder.orphans() == orphans
    assert not any(part.children for part in reading.calls.values())


def chained(agents: int, *, round: bool) -> Session:
    """Sub-agents that start each other in a row; in a `round`, the last one starts the first."""
    session = Session().prompt("Bake")
    if not round:
        session.answer(calls=[task("t0", "look")]).result("t0", toolUseResult={"agentId": "a0"})
    for number in range(agents):
        inner = Session(mark=f"m{number}", agent=f"a{number}").prompt(f"look {number}", parent=None)
        following = (number + 1) % agents if round else number + 1
        inner.answer(calls=[task(f"t{number + 1}", "x")])
        session.records += inner.result(f"t{number + 1}", toolUseResult={"agentId": f"a{following}"}).records
    return session


def all_ids(messages: list[Message]) -> list[str]:
    found: list[str] = []
    for message in messages:
        found.append(message.id)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                found += all_ids(list(part.children))
    return found


@each_row("round", [False, True], ids=["in a row", "in a round"])
@each_row("agents", [2, 3, 200])
def test_each_sub_agent_is_shown_once_however_they_are_linked(agents: int, round: bool) -> None:
    reading = read(chained(agents, round=round))
    ids = all_ids(reading.messages)
    for messages in reading.log.builder.orphans().values():
        ids += all_ids(messages)
    wanted = {f"m{number}-1" for number in range(agents)}
    assert sorted(set(ids) & wanted) == sorted(id_ for id_ in ids if id_ in wanted)
    assert wanted <= set(ids)


def test_memory_of_sub_agents_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_builder, "REMEMBERED_MESSAGES", 3)
    session = Session()
    for number in range(8):
        session.prompt(f"Bake {number}").answer(calls=[task(f"t{number}", "look")])
        session.records += helper("look", mark=f"a{number}", agent=f"a{number}").records
        session.result(f"t{number}", toolUseResult={"agentId": f"a{number}"}).answer(text="Good.")
    reading = read(session, live=True)
    assert all(children(reading, f"t{number}") == ["look", "look: done"] for number in range(8))
    held = [
        agent.messages(None)
        for agent in map(reading.log.builder.agent, (f"a{number}" for number in range(8)))
    ]
    assert sum(bool(messages) for messages in held) == 3


def test_later_messages_of_a_forgotten_sub_agent_are_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_builder, "REMEMBERED_MESSAGES", 1)
    session = Session()
    for number in range(3):
        session.prompt(f"Bake {number}").answer(calls=[task(f"t{number}", "look")])
        session.records += helper("look", mark=f"a{number}", agent=f"a{number}").records
        session.result(f"t{number}", toolUseResult={"agentId": f"a{number}"}).answer(text="Good.")
    late = Session(mark="late", agent="a0").answer(text="one more thing")
    session.records += late.records
    reading = read(session)
    assert children(reading, "t0") == ["look", "look: done"]
    assert [text_of(message) for message in reading.log.builder.orphans()["a0"]] == ["one more thing"]


def test_facts_of_the_conversation_override_those_of_a_sub_agent() -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    for record in helper("look", agent="a1").records:
        session.records.append({**record, "cwd": "/elsewhere", "gitBranch": "other"})
    reading = read(session.result("t1", toolUseResult={"agentId": "a1"}).turn("More"))
    assert reading.log.facts["cwd"] == "/kitchen"
    assert reading.log.facts["gitBranch"] == "main"


def test_the_file_of_a_sub_agent_is_a_conversation() -> None:
    session = helper("look", agent="a1")
    reading = read(session)
    assert [message.id for message in reading.messages] == ["a-1", "msg-a-1", "msg-a-2"]
    assert reading.log.facts["agentName"] == "a1"
    assert not reading.log.builder.orphans()


STRANGE: dict[str, Json] = {
    "no message": {"agentId": "a1"},
    "a message of another kind": {"agentId": "a1", "message": {"type": "smell"}},
    "a message that is none": {"agentId": "a1", "message": "hi"},
    "no name": {"message": {"type": "assistant", "message": {"id": "m", "content": [text("x")]}}},
}


@each_row("data", STRANGE.values(), ids=STRANGE)
def test_unknown_progress_of_a_sub_agent_is_reported(data: JsonObject) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    reading = read(session.progress("t1", "agent_progress", **data))
    assert list(reading.unknown_records.values()) == [[3]]
