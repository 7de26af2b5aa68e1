"""`parse_log_file` and `parse_log_stream`: logs of any agent, files of sub-agents, and errors."""

import gzip
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError, FormatError, PartitaError
from partita.logs.lines.blocks import BLOCK
from partita.logs.log_reader import LogReader, agent_files
from partita.logs.parsed_log import extract_tool_calls, parse_log_file, parse_log_stream
from partita.logs.sources.registry import LOG_FORMATS, log_format
from partita.types.json import Json, JsonObject, dumps, indented
from partita.types.messages import Message, text_of
from partita.types.parts import ErrorTextOutput, TextOutput
from tests.logs.claude_session import SESSION, Session, lines_of, rich, task, text, use

CLAUDE = log_format("claude-code-log")


def write(folder: Path, session: Session, name: str = f"{SESSION}.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session.data)
    return path


def sub_agent(agent: str, prompt: str = "look", mark: str | None = None) -> Session:
    """A sub-agent's own file."""
    session = Session(mark=mark or agent, agent=agent).prompt(prompt, parent=None)
    return (
        session.answer(calls=[use(f"{agent}-c1", "Grep")])
        .result(f"{agent}-c1")
        .answer(text=f"{agent} is done")
    )


def with_task(call: str = "t1", prompt: str = "look", **structured: Json) -> Session:
    """A conversation with a sub-agent, and further turns."""
    session = Session().prompt("Bake").answer(calls=[task(call, prompt)])
    fields: JsonObject = {"toolUseResult": structured} if structured else {}
    return session.result(call, "ok", **fields).answer(text="Good.").turn("And now?").turn("And then?")


def texts_under(messages: tuple[Message, ...], call: str) -> list[str]:
    """The texts of the sub-agent under a call."""
    (found,) = [it.part for it in extract_tool_calls(messages) if it.id == call]
    return [text_of(child) for child in found.children if text_of(child)]


# A log


def test_a_log_is_read_lazily(tmp_path: Path) -> None:
    log = parse_log_file(write(tmp_path, rich()))
    assert (log.format, log.agent) == ("claude-code-log", "claude-code")
    first = list(log)
    assert list(log) == first  # it can be gone through again
    assert {message.id: message for message in first} == {message.id: message for message in log.messages}
    assert [finding.what for finding in log.unknown_records] == ["unknown record type 'telepathy'"]
    assert (log.thread.id, log.thread.title, log.thread.project) == (SESSION, "Bread", "/bakery")
    assert log.orphans == {}


def test_the_thread_reads_the_log(tmp_path: Path) -> None:
    assert parse_log_file(write(tmp_path, rich())).thread.title == "Bread"


def test_a_message_that_changes_late_is_yielded_twice_and_listed_once(tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1")]).turn("Still?", "yes " * BLOCK)
    session.result("c1", "warm")
    log = parse_log_file(write(tmp_path, session))
    assert [message.id for message in log].count("msg-u-1") == 2
    assert [message.id for message in log.messages] == ["u-1", "msg-u-1", "u-3", "msg-u-2"]
    (call,) = extract_tool_calls(log.messages)
    assert call.output == TextOutput("warm")


def test_a_compressed_log_is_the_same_log(tmp_path: Path) -> None:
    plain = parse_log_file(write(tmp_path / "a", rich()))
    packed = tmp_path / "b" / f"{SESSION}.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(rich().data))
    log = parse_log_file(packed)
    assert log.messages == plain.messages
    assert log.thread == plain.thread


def test_the_thread_is_the_session_wherever_the_file_is(tmp_path: Path) -> None:
    session = Session().turn("Bake")
    names = (f"{SESSION}.jsonl", "copy.jsonl", "sub/old.jsonl")
    assert {parse_log_file(write(tmp_path, session, name)).thread.id for name in names} == {SESSION}


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, Session().about("mode", mode="plan"), "unclear.txt")
    assert parse_log_file(path, format="claude-code-log").agent == "claude-code"


# Sub-agents that have files of their own

PLACES = {
    "beside the session": "agent-a1.jsonl",
    "below the session": f"{SESSION}/subagents/agent-a1.jsonl",
    "further below": f"{SESSION}/subagents/workflows/run-1/agent-a1.jsonl",
    "compressed": f"{SESSION}/subagents/agent-a1.jsonl.gz",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_sub_agents_file_is_found_where_versions_put_it(tmp_path: Path, place: str) -> None:
    path = write(tmp_path, with_task(status="completed", agentId="a1"))
    file = write(tmp_path, sub_agent("a1"), place)
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(file.read_bytes()))
    log = parse_log_file(path)
    assert texts_under(log.messages, "t1") == ["look", "a1 is done"]
    assert not log.orphans
    assert not log.unknown_records


def test_files_of_other_sessions_in_the_folder_are_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, with_task(agentId="a1"))
    other = sub_agent("a2")
    for record in other.records:
        record["sessionId"] = "another"
    write(tmp_path, other, "agent-a2.jsonl")
    write(tmp_path, sub_agent("a1"), "agent-a1.jsonl")
    assert [file.name for file in agent_files(CLAUDE, path)] == ["a1"]
    assert not parse_log_file(path).orphans


LINKS: dict[str, tuple[Session, JsonObject | None]] = {
    "the sidecar names the call": (with_task(), {"agentType": "baker", "toolUseId": "t1"}),
    "the result names the agent": (with_task(agentId="a1"), None),
    "the result names an agent that was only started": (
        with_task(status="async_launched", agentId="a1"),
        None,
    ),
    "the prompt is the call's": (with_task(prompt=" look\n"), None),
    "a sidecar without the call": (with_task(), {"agentType": "baker"}),
}


@pytest.mark.parametrize(("session", "sidecar"), LINKS.values(), ids=LINKS)
def test_a_sub_agent_is_linked_to_its_call(
    tmp_path: Path, session: Session, sidecar: JsonObject | None
) -> None:
    path = write(tmp_path, session)
    file = write(tmp_path, sub_agent("a1"), f"{SESSION}/subagents/agent-a1.jsonl")
    if sidecar is not None:
        file.with_name("agent-a1.meta.json").write_bytes(dumps(sidecar))
    log = parse_log_file(path)
    assert texts_under(log.messages, "t1") == ["look", "a1 is done"]
    assert not log.orphans


def test_two_sub_agents_with_the_same_prompt_are_under_two_calls(tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look"), task("t2", "look")])
    path = write(tmp_path, session.result("t1").result("t2").answer(text="Both.").turn("Go on"))
    for name in ("a1", "a2"):
        write(tmp_path, sub_agent(name), f"agent-{name}.jsonl")
    log = parse_log_file(path)
    assert texts_under(log.messages, "t1") == ["look", "a1 is done"]
    assert texts_under(log.messages, "t2") == ["look", "a2 is done"]


def test_a_call_that_never_ended_has_its_sub_agent_too(tmp_path: Path) -> None:
    path = write(tmp_path, Session().prompt("Bake").answer(calls=[task("t1", "look")]).turn("Killed?"))
    write(tmp_path, sub_agent("a1"), "agent-a1.jsonl")
    log = parse_log_file(path)
    assert texts_under(log.messages, "t1") == ["look", "a1 is done"]
    assert not log.orphans


def test_sub_agents_of_sub_agents_have_files_too(tmp_path: Path) -> None:
    path = write(tmp_path, with_task(agentId="a1"))
    outer = Session(mark="a1", agent="a1").prompt("look", parent=None).answer(calls=[task("t2", "deeper")])
    outer.result("t2", toolUseResult={"agentId": "a2"}).answer(text="a1 is done")
    inner = Session(mark="a2", agent="a2").prompt("deeper", parent=None).answer(calls=[task("t3", "deepest")])
    write(tmp_path, outer, f"{SESSION}/subagents/agent-a1.jsonl")
    write(tmp_path, inner.result("t3").answer(text="a2 is done"), f"{SESSION}/subagents/agent-a2.jsonl")
    write(tmp_path, sub_agent("a3", "deepest"), f"{SESSION}/subagents/agent-a3.jsonl")
    log = parse_log_file(path)
    assert texts_under(log.messages, "t2") == ["deeper", "a2 is done"]
    assert texts_under(log.messages, "t3") == ["deepest", "a3 is done"]
    paths = {call.id: call.path for call in extract_tool_calls(log.messages)}
    assert paths == {"t1": (), "t2": ("t1",), "t3": ("t1", "t2"), "a3-c1": ("t1", "t2", "t3")}


def test_a_sub_agent_without_a_call_is_an_orphan(tmp_path: Path) -> None:
    path = write(tmp_path, with_task(prompt="something else"))
    write(tmp_path, sub_agent("a1"), f"{SESSION}/subagents/agent-a1.jsonl")
    log = parse_log_file(path)
    assert [text_of(message) for message in log.orphans["a1"] if text_of(message)] == ["look", "a1 is done"]


def test_the_file_of_a_sub_agent_wins_over_its_progress(tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    for record in sub_agent("a1", mark="p").records[:2]:
        session.progress("t1", "agent_progress", agentId="a1", message=record)
    path = write(tmp_path, session.result("t1").answer(text="Good."))
    write(tmp_path, sub_agent("a1"), f"{SESSION}/subagents/agent-a1.jsonl")
    messages = parse_log_file(path).messages
    (call,) = [it.part for it in extract_tool_calls(messages) if it.id == "t1"]
    assert [child.id for child in call.children] == ["a1-1", "msg-a1-1", "msg-a1-2"]
    alone = parse_log_file(path, agents=False).messages
    (call,) = [it.part for it in extract_tool_calls(alone) if it.id == "t1"]
    assert [child.id for child in call.children] == ["p-1", "msg-p-1"]


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "cut, compressed": (
        gzip.compress(sub_agent("a1").data)[:-20],
        "the file of a sub-agent that cannot be read",
    ),
    "the result has no call right before it": (
        lines_of(sub_agent("a1").result("gone").records),
        "the result has no call right before it",
    ),
    "a line that is not an object": (sub_agent("a1").data + b"7\n", "a line that is not an object"),
    "a line that is not JSON": (sub_agent("a1").data + b"oops\n", "not JSON"),
}


@pytest.mark.parametrize(("data", "what"), BAD_FILES.values(), ids=BAD_FILES)
def test_problems_of_the_file_of_a_sub_agent_are_reported(tmp_path: Path, data: bytes, what: str) -> None:
    path = write(tmp_path, with_task(agentId="a1"))
    ending = ".jsonl.gz" if data.startswith(b"\x1f\x8b") else ".jsonl"
    file = write(tmp_path, Session(), f"{SESSION}/subagents/agent-a1{ending}")
    file.write_bytes(data)
    log = parse_log_file(path)
    assert [finding.what for finding in log.unknown_records] == [what]
    assert len(log.messages) == len(parse_log_file(path, agents=False).messages)


@pytest.mark.parametrize(
    "data", [b"{", b"[1]", b"\xff", b"[" * 5000], ids=["cut", "a list", "no text", "deep"]
)
def test_an_unreadable_sidecar_is_ignored(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, with_task(agentId="a1"))
    file = write(tmp_path, sub_agent("a1"), f"{SESSION}/subagents/agent-a1.jsonl")
    file.with_name("agent-a1.meta.json").write_bytes(data)
    assert texts_under(parse_log_file(path).messages, "t1") == ["look", "a1 is done"]


def test_continuing_does_not_read_earlier_sub_agents_a_second_time(tmp_path: Path) -> None:
    session = (
        with_task(agentId="a1")
        .answer(calls=[task("t2", "see")])
        .result("t2", toolUseResult={"agentId": "a2"})
    )
    path = write(tmp_path, session)
    for name in ("a1", "a2", "a3"):
        write(tmp_path, sub_agent(name), f"{SESSION}/subagents/agent-{name}.jsonl")

    def reading_from(state: JsonObject | None) -> LogReader:
        reading = LogReader(CLAUDE, SESSION, state=state, agents=agent_files(CLAUDE, path))
        reading.feed(session.data[state["offset"] if state else 0 :])
        reading.read_sub_agents()
        return reading

    first = reading_from(None)
    state = first.checkpoint()
    assert state is not None
    assert state["offset"] > 0
    first.finish()
    rest = reading_from(state)
    messages = tuple(rest.finish().messages)
    assert texts_under(messages, "t2") == ["look", "a2 is done"]
    assert list(rest.builder.orphans()) == list(first.builder.orphans()) == ["a3"]


# Streams


async def pieces_of(data: bytes, cuts: list[int]) -> AsyncIterator[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        yield data[start:end]


GEMINI: JsonObject = {
    "sessionId": "5e551000-0000-4000-8000-00000000000e",
    "projectHash": "9f",
    "startTime": "2026-05-01T08:00:00.000Z",
    "lastUpdated": "2026-05-01T08:00:09.000Z",
    "messages": [
        {
            "id": f"g{number}",
            "timestamp": "2026-05-01T08:00:01.000Z",
            "type": "user",
            "content": "bread " * 80,
        }
        for number in range(200)
    ],
}
EXPORT: JsonObject = {
    "info": {"id": "ses_1", "title": "Bread", "version": "1.2.20", "time": {"created": 1, "updated": 2}},
    "messages": [
        {
            "info": {"id": "msg_1", "role": "user", "sessionID": "ses_1", "time": {"created": 1}},
            "parts": [{"id": "prt_1", "type": "text", "text": "Bake"}],
        }
    ],
}

LOGS: dict[str, tuple[str, bytes]] = {
    "a session of Claude Code": (f"{SESSION}.jsonl", rich().data),
    "a long one": (f"{SESSION}.jsonl", b"".join(rich(f"v{number}").data for number in range(8))),
    "a short one": (f"{SESSION}.jsonl", Session().turn("Bake").data),
    "one that is cut": (f"{SESSION}.jsonl", rich().data[:-30]),
    "one that is compressed": (f"{SESSION}.jsonl.gz", gzip.compress(rich().data)),
    "a document of Gemini, over many lines": ("session-1.json", indented(GEMINI)),
    "a document of Gemini, in one line": ("session-1.json", dumps(GEMINI) + b"\n"),
    "an export of OpenCode": ("export.json", indented(EXPORT)),
    "an empty session": (f"{SESSION}.jsonl", b""),
}


@pytest.mark.parametrize(("name", "data"), LOGS.values(), ids=LOGS)
@settings(max_examples=settings().max_examples // 6)  # each reads a whole file, twice
@given(cuts=st.lists(st.integers(0, 200_000), max_size=9), named=st.booleans())
async def test_a_stream_has_the_messages_of_the_file(
    tmp_path: Path, name: str, data: bytes, cuts: list[int], named: bool
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    log = parse_log_file(path)
    source = pieces_of(data, cuts)
    stream = parse_log_stream(source, format=log.format if named else None, name=str(path))
    found = {message.id: message async for message in stream}
    assert found == {message.id: message for message in log.messages}


async def test_a_stream_may_arrive_in_single_bytes(tmp_path: Path) -> None:
    data = indented(GEMINI)[:120_000]
    found = [
        message
        async for message in parse_log_stream(pieces_of(data, list(range(len(data)))), name="session-1.json")
    ]
    assert found == []  # neither a document nor lines yet


async def test_a_stream_yields_messages_before_it_ends() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"".join(rich(f"v{number}").data for number in range(3))
        pytest.fail("the source was read further")

    async for message in parse_log_stream(source(), name=f"{SESSION}.jsonl"):
        assert message.thread_id == SESSION
        break


def _item(role: str, kind: str, words: str) -> JsonObject:
    content = [{"type": kind, "text": words}]
    return {
        "timestamp": "2026-05-01T08:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


FIRST_LINES: dict[str, tuple[str, list[JsonObject], str]] = {
    "Claude Code": ("claude-code-log", Session().prompt("Bake").answer(text="Yes").records, "Bake"),
    "Codex": (
        "codex-rollout",
        [
            {
                "timestamp": "2026-05-01T08:00:00Z",
                "type": "session_meta",
                "payload": {"id": "t1", "cwd": "/"},
            },
            _item("user", "input_text", "Bake"),
            {
                "timestamp": "2026-05-01T08:00:02Z",
                "type": "event_msg",
                "payload": {"type": "user_message", "message": "Bake"},
            },
            _item("assistant", "output_text", "Yes"),
        ],
        "Bake",
    ),
    "Gemini CLI": (
        "gemini-cli",
        [
            {"sessionId": "s1", "projectHash": "9f", "startTime": "2026-05-01T08:00:00.000Z"},
            {"id": "g1", "timestamp": "2026-05-01T08:00:01.000Z", "type": "user", "content": "Bake"},
            {"id": "g2", "timestamp": "2026-05-01T08:00:02.000Z", "type": "user", "content": "Now"},
        ],
        "Bake",
    ),
    "Claude Code's stream": (
        "claude-code-stream",
        [
            {"type": "system", "subtype": "init", "session_id": "s1", "uuid": "1", "tools": [], "model": "m"},
            {
                "type": "assistant",
                "session_id": "s1",
                "uuid": "2",
                "parent_tool_use_id": None,
                "message": {"id": "m1", "role": "assistant", "model": "m", "content": [text("Yes")]},
            },
            {"type": "result", "subtype": "success", "session_id": "s1", "uuid": "4", "num_turns": 1},
            {"type": "system", "subtype": "status", "session_id": "s1", "uuid": "3", "status": None},
        ],
        "Yes",
    ),
}


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
@pytest.mark.parametrize(("format", "records", "words"), FIRST_LINES.values(), ids=FIRST_LINES)
async def test_a_stream_yields_a_message_as_soon_as_it_is_complete(
    format: str, records: list[JsonObject], words: str, named: bool
) -> None:
    fed: list[JsonObject] = []

    async def source() -> AsyncIterator[bytes]:
        for record in records:
            fed.append(record)
            yield dumps(record) + b"\n"

    stream = parse_log_stream(source(), format=format if named else None)
    async for message in stream:
        if text_of(message) == words:
            break
    assert len(fed) < len(records)
    await stream.aclose()


async def test_with_a_named_format_the_first_line_is_read_at_once() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield Session().prompt("Bake").data
        pytest.fail("more was read than the first line")

    stream = parse_log_stream(source(), format="claude-code-log")
    assert text_of(await anext(stream)) == "Bake"


async def test_the_session_of_a_stream_may_be_in_a_later_record() -> None:
    summary: JsonObject = {"type": "summary", "summary": "Bread", "leafUuid": "u-1"}
    data = lines_of([summary, *Session().turn("Bake").records])
    for named in ("claude-code-log", None):
        pieces = pieces_of(data, [data.index(b"\n") + 1])
        found = [message async for message in parse_log_stream(pieces, format=named, name="log.jsonl")]
        assert {message.thread_id for message in found} == {SESSION}


@pytest.mark.parametrize("data", [b"", b" \n\n"], ids=["no bytes", "blank lines"])
async def test_an_empty_log_is_an_empty_session(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "diary.txt"
    path.write_bytes(data)
    log = parse_log_file(path)
    assert (log.messages, log.unknown_records, log.thread.title) == ((), (), None)
    assert [message async for message in parse_log_stream(pieces_of(data, []), name="diary.txt")] == []


# Findings


def chain(*links: tuple[str, str | None]) -> Session:
    """Prompts with those uuids and parents."""
    session = Session()
    for uuid, parent in links:
        session.prompt(f"prompt {uuid}", parent=parent, uuid=uuid)
    return session


CHAINS: dict[str, tuple[Session, list[tuple[str, list[int]]]]] = {
    "nothing": (chain(("a", None), ("b", "a"), ("c", "a")), []),
    "a parent on a later line": (chain(("b", "a"), ("a", None)), []),
    "a missing parent": (chain(("a", None), ("b", "gone"), ("c", "gone")), [("missing parent", [2, 3])]),
    "a duplicate": (chain(("a", None), ("b", "a"), ("a", None)), [("duplicate uuid", [3])]),
    "its own parent": (chain(("a", None), ("b", "b")), [("cycle of parents", [2])]),
    "two lines": (chain(("a", "b"), ("b", "a")), [("cycle of parents", [2])]),
    "three lines": (chain(("a", "c"), ("b", "a"), ("c", "b"), ("d", "c")), [("cycle of parents", [3])]),
    "a cycle through a duplicate": (
        chain(("a", None), ("b", "a"), ("a", "b")),
        [("duplicate uuid", [3]), ("cycle of parents", [3])],
    ),
}


@pytest.mark.parametrize(("session", "expected"), CHAINS.values(), ids=CHAINS)
async def test_a_broken_chain_of_parents_is_reported(
    tmp_path: Path, session: Session, expected: list[tuple[str, list[int]]]
) -> None:
    log = parse_log_file(write(tmp_path, session))
    found = [(finding.what, [place.line for place in finding.positions]) for finding in log.unknown_records]
    assert found == expected
    texts = [text_of(message) for message in log.messages if text_of(message)]
    assert set(texts) == {f"prompt {record['uuid']}" for record in session.records}
    stream = parse_log_stream(pieces_of(session.data, [50]), format="claude-code-log")
    async for _ in stream:
        pass
    assert stream.unknown_records == log.unknown_records


def test_a_broken_chain_in_a_sub_agent_is_reported_with_its_name(tmp_path: Path) -> None:
    path = write(tmp_path, with_task(agentId="a1"))
    file = write(tmp_path, sub_agent("a1"), f"{SESSION}/subagents/agent-a1.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"parentUuid":"a1-2"', b'"parentUuid":"gone"'))
    (finding,) = parse_log_file(path).unknown_records
    assert finding.what == "missing parent"
    assert [place.line for place in finding.positions] == [3]
    assert finding.detail.startswith("a1: gone")


def test_the_agent_that_compacts_a_session_may_follow_its_records(tmp_path: Path) -> None:
    agent = "acompact-1"
    path = write(tmp_path, with_task(agentId=agent))
    file = write(tmp_path, sub_agent(agent), f"{SESSION}/subagents/agent-{agent}.jsonl")
    file.write_bytes(file.read_bytes().replace(f'"parentUuid":"{agent}-2"'.encode(), b'"parentUuid":"gone"'))
    assert b'"gone"' in file.read_bytes()
    assert not parse_log_file(path).unknown_records


def test_a_response_of_opencode_to_a_missing_prompt_is_reported(tmp_path: Path) -> None:
    responses = [
        {
            "info": {"id": id_, "role": "assistant", "parentID": parent, "time": {"created": 2}},
            "parts": [{"id": f"prt_{id_}", "type": "text", "text": "Yes"}],
        }
        for id_, parent in (("msg_2", "msg_1"), ("msg_3", "gone"))
    ]
    path = tmp_path / "export.json"
    path.write_bytes(dumps(EXPORT | {"messages": [*EXPORT["messages"], *responses]}))
    log = parse_log_file(path)
    assert [(finding.what, finding.detail) for finding in log.unknown_records] == [
        ("missing parent", "gone, the parent of msg_3")
    ]
    assert len([message for message in log.messages if text_of(message)]) == 3


def test_a_rewind_of_gemini_to_a_missing_message_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "session-1.jsonl"
    path.write_bytes(lines_of([*FIRST_LINES["Gemini CLI"][1], {"$rewindTo": "g2"}, {"$rewindTo": "gone"}]))
    (finding,) = parse_log_file(path).unknown_records
    assert str(finding) == "rewind to an unknown message: gone (once, line 5)"


CUT: dict[str, tuple[str, bytes]] = {
    "Claude Code": (f"{SESSION}.jsonl", Session().turn("Bake").data),
    "Codex": ("rollout-1.jsonl", lines_of(FIRST_LINES["Codex"][1])),
    "Gemini CLI": ("session-1.jsonl", lines_of(FIRST_LINES["Gemini CLI"][1])),
}


@pytest.mark.parametrize(("name", "data"), CUT.values(), ids=CUT)
async def test_the_cut_last_line_of_a_finished_log_is_reported(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data[:-20])
    (finding,) = parse_log_file(path).unknown_records
    assert finding.what == "cut last line"
    assert [place.line for place in finding.positions] == [data.count(b"\n")]
    stream = parse_log_stream(pieces_of(data[:-20], []), name=name)
    async for _ in stream:
        assert not stream.unknown_records or stream.unknown_records == (finding,)
    assert stream.unknown_records == (finding,)
    path.write_bytes(data[:-1])
    assert parse_log_file(path).unknown_records == ()  # only the line feed is missing


# Errors


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PartitaError, match="no such file") as error:
        parse_log_file(tmp_path / "gone.jsonl")
    assert error.value.where == str(tmp_path / "gone.jsonl")


def test_a_folder_is_not_a_log(tmp_path: Path) -> None:
    with pytest.raises(PartitaError, match="directory"):
        parse_log_file(tmp_path)


FOREIGN: dict[str, bytes] = {
    "binary": bytes(range(256)) * 20,
    "text": b"Dear diary,\ntoday I baked.\n",
    "other JSON": b'{"hello": "world"}\n',
    "a list": b"[1, 2, 3]",
    "deep": b"[" * 5_000,
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
async def test_a_file_that_is_not_a_log_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "diary.txt"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="not a log of a known agent") as error:
        parse_log_file(path)
    assert error.value.where == str(path)
    assert "codex-rollout" in error.value.hint
    with pytest.raises(FormatError, match="not a log of a known agent"):
        _ = [message async for message in parse_log_stream(pieces_of(data, []), name="diary.txt")]


@pytest.mark.parametrize("format", LOG_FORMATS)
@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
async def test_any_bytes_are_read_with_a_named_format(tmp_path: Path, format: str, data: bytes) -> None:
    path = tmp_path / "diary.json"
    path.write_bytes(data)
    log = parse_log_file(path, format=format)
    streamed = [
        message async for message in parse_log_stream(pieces_of(data, [3]), format=format, name=str(path))
    ]
    assert streamed == list(log.messages)
    assert log.thread.agent == LOG_FORMATS[log.format].agent


def test_a_binary_file_with_the_name_of_a_session_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(bytes(range(256)) * 20)
    log = parse_log_file(path)
    assert log.messages == ()
    assert log.unknown_records


def test_a_format_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no log format 'telepathy'") as error:
        parse_log_file(write(tmp_path, rich()), format="telepathy")
    assert all(name in error.value.hint for name in LOG_FORMATS)


def test_a_cut_compressed_log_is_read_up_to_the_cut_with_an_error(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(rich(f"v{number}").data for number in range(8)))
    path = tmp_path / f"{SESSION}.jsonl.gz"
    path.write_bytes(whole[:-30])
    messages = iter(parse_log_file(path))
    assert next(messages).thread_id == SESSION
    with pytest.raises(DecodeError, match="cut off") as error:
        list(messages)
    assert error.value.where == str(path)
    path.write_bytes(whole[:200])  # too short to show what it is
    with pytest.raises(PartitaError, match="compressed file is cut off"):
        parse_log_file(path)


# Calls


def test_calls_of_messages_are_listed_with_those_of_sub_agents(tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1"), task("t1", "look"), use("c2")])
    session.result("c1", "warm").result("c2", "no heat", error=True)
    path = write(tmp_path, session.result("t1", toolUseResult={"agentId": "a1"}).answer(calls=[use("c3")]))
    write(tmp_path, sub_agent("a1"), "agent-a1.jsonl")
    calls = list(extract_tool_calls(parse_log_file(path)))
    assert [(call.id, call.name, call.path) for call in calls] == [
        ("c1", "Oven", ()),
        ("t1", "Task", ()),
        ("a1-c1", "Grep", ("t1",)),
        ("c2", "Oven", ()),
        ("c3", "Oven", ()),
    ]
    assert [call.failed for call in calls] == [False, False, False, True, True]
    assert (calls[0].input, calls[0].output) == ({}, TextOutput("warm"))
    assert calls[3].output == ErrorTextOutput("no heat")
    assert {call.message_id for call in calls} == {"msg-u-1", "msg-a1-1", "msg-u-2"}


def test_no_messages_have_no_calls() -> None:
    assert list(extract_tool_calls([])) == []
