"""Sub-agents of Codex: their rollouts are nested under the calls that started them."""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.importers.logs.plan import units_of
from partita.importers.logs.watch import sessions_of
from partita.logs.files import find_logs
from partita.logs.log_reader import Batch, LogReader, agent_files
from partita.logs.parsed_log import parse_log_file
from partita.logs.sources.codex import find_thread, parent_in, root_of, thread_in, top_of
from partita.logs.sources.registry import log_format
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.types.messages import text_of
from tests.logs.codex_family import Rollout, calls_in, completed, session, under
from tests.tables import each_row

CODEX = log_format("codex-rollout")

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXTS = ["Count the snails.", "Nine."]


def snails(parent: Rollout, number: int = 2, *, copies: bool = True) -> Rollout:
    child = parent.agent(number, copies=copies)
    child.time += timedelta(seconds=3)
    return child.add_turn("Count the snails.", "Nine.")


def by_thread(parent: Rollout, child: Rollout) -> None:
    parent.output("c1", dumps({"agent_id": child.thread, "nickname": "Ada"}).decode())


def by_path(parent: Rollout, child: Rollout) -> None:
    parent.output("c1", dumps({"task_name": child.path, "nickname": None}).decode())


def by_blocks(parent: Rollout, child: Rollout) -> None:
    words = dumps({"agent_id": child.thread}).decode()
    parent.output("c1", [{"type": "input_text", "text": words}])


def by_event(parent: Rollout, child: Rollout) -> None:
    parent.event(
        "collab_agent_spawn_end",
        call_id="c1",
        sender_thread_id=parent.thread,
        new_thread_id=child.thread,
        prompt="Go.",
        status="running",
    )
    parent.output("c1", "started")


def by_activity(parent: Rollout, child: Rollout) -> None:
    parent.event("sub_agent_activity", event_id="c1", agent_thread_id=child.thread, kind="started")
    parent.output("c1", "started")


def by_item(parent: Rollout, child: Rollout) -> None:
    item: JsonObject = {
        "type": "CollabAgentToolCall",
        "id": "c1",
        "tool": "spawnAgent",
        "status": "completed",
        "sender_thread_id": parent.thread,
        "receiver_thread_ids": [child.thread],
        "agents_states": {},
    }
    parent.event("item_completed", **completed(item))


def by_activity_item(parent: Rollout, child: Rollout) -> None:
    item: JsonObject = {
        "type": "SubAgentActivity",
        "id": "c1",
        "kind": "started",
        "agent_thread_id": child.thread,
        "agent_path": child.path,
    }
    parent.event("item_completed", **completed(item))
    parent.output("c1", "started")


WAYS = {
    "the output names the thread": by_thread,
    "the output names the path": by_path,
    "the output is in blocks": by_blocks,
    "by an event": by_event,
    "by an event of activity": by_activity,
    "by an item": by_item,
    "by an item of activity": by_activity_item,
}


@pytest.mark.parametrize("report", WAYS.values(), ids=WAYS)
def test_a_sub_agent_is_nested_under_the_call_that_started_it(
    tmp_path: Path, report: Callable[[Rollout, Rollout], None]
) -> None:
    parent = session().begin("Look after the garden.")
    parent.call("c1", "spawn_agent", message="Go.", task_name="worker2")
    child = snails(parent)
    report(parent, child)
    child.write(tmp_path)
    parent.answer("Nine snails.")
    log = parse_log_file(parent.write(tmp_path))
    assert under(log.messages, "c1") == TEXTS
    assert not log.orphans
    assert not log.unknown_records


UNANSWERED: dict[str, JsonObject] = {"a task's name": {"task_name": "worker2"}, "its being the only one": {}}


@pytest.mark.parametrize("arguments", UNANSWERED.values(), ids=UNANSWERED)
def test_a_call_without_an_output_is_found_by(tmp_path: Path, arguments: JsonObject) -> None:
    parent = session().begin("Look after the garden.")
    child = snails(parent)
    if not arguments:
        child.records[0]["payload"]["source"]["subagent"]["thread_spawn"].pop("agent_path")
    parent.call("c0", "spawn_agent", message="Go.", task_name="other")
    parent.call("c1", "spawn_agent", message="Go.", **arguments)
    child.write(tmp_path)
    assert under(parse_log_file(parent.write(tmp_path)).messages, "c1") == TEXTS


def garden(tmp_path: Path) -> tuple[Rollout, Rollout, Rollout, Path]:
    """A session, its sub-agent, and that one's."""
    parent = session().add_turn("Dig.", "Dug.")
    parent.begin("Look after the garden.")
    child = snails(parent)
    parent.spawn(child, "c1")
    parent.answer("Nine snails.").count(40)
    child.begin("And the slugs.")
    grandchild = child.agent(3)
    grandchild.time += timedelta(seconds=3)
    grandchild.add_turn("Count the slugs.", "Four.")
    child.spawn(grandchild, "c2")
    child.answer("Four slugs.").count(60)
    child.write(tmp_path)
    grandchild.write(tmp_path)
    return parent, child, grandchild, parent.write(tmp_path)


def test_sub_agents_have_sub_agents(tmp_path: Path) -> None:
    _, child, grandchild, path = garden(tmp_path)
    log = parse_log_file(path)
    assert under(log.messages, "c1") == [*TEXTS, "And the slugs.", "Four slugs."]
    assert under(log.messages, "c2") == ["Count the slugs.", "Four."]
    assert {part.id for part in calls_in(log.messages)} == {"c1", "c2"}
    assert {file.name for file in agent_files(CODEX, path)} == {child.thread, grandchild.thread}


def test_copied_history_is_shown_and_counted_once(tmp_path: Path) -> None:
    parent, child, grandchild, path = garden(tmp_path)
    batch = read_all(path)
    words = dumps([to_json(message) for message in batch.messages]).decode()
    texts = ("Dug.", "Count the snails.", "Nine.", "And the slugs.", "Four.")
    assert [words.count(f'"text":"{text}"') for text in texts] == [1, 1, 1, 1, 1]
    assert "copiedUsage" not in words
    assert sorted(one.usage.total_tokens or 0 for one in batch.consumptions) == [10, 10, 10, 30, 40]
    for rollout, run in ((child, f"/{child.thread}@0"), (grandchild, f"/{grandchild.thread}@0")):
        lines = [line.raw for line in batch.lines if line.run_id == parent.thread + run]
        assert b"".join(line + b"\n" for line in lines) == rollout.lines()


def read_all(path: Path) -> Batch:
    """All that a session brings, with its sub-agents."""
    agents = agent_files(CODEX, path)
    reading = LogReader(CODEX, thread_in(path.name) or "", agents=agents, keep_lines=True)
    reading.feed(path.read_bytes())
    reading.read_sub_agents()
    return reading.finish()


def test_the_header_of_a_sub_agent_does_not_change_the_session(tmp_path: Path) -> None:
    parent, *_, path = garden(tmp_path)
    metadata = parse_log_file(path).thread.metadata or {}
    assert metadata["sessionId"] == parent.thread
    assert not {"parentSessionId", "agentName", "forkedFrom"} & metadata.keys()


def test_a_sub_agent_read_alone_is_a_session_with_a_parent(tmp_path: Path) -> None:
    parent, child, grandchild, path = garden(tmp_path)
    path.unlink()
    log = parse_log_file(next(tmp_path.rglob(f"*{child.thread}.jsonl")))
    assert (log.thread.id, (log.thread.metadata or {})["parentSessionId"]) == (child.thread, parent.thread)
    assert "Dug." in [text_of(message) for message in log.messages]
    assert under(log.messages, "c2") == ["Count the slugs.", "Four."]
    assert {file.name for file in agent_files(CODEX, log.path)} == {grandchild.thread}


def test_a_call_without_the_file_of_its_agent_is_an_ordinary_call(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    parent.spawn(parent.agent(2), "c1").spawn(parent.agent(3), "c2", task_name="/root/worker3")
    parent.call("c3", "spawn_agent", message="Go.").output("c3", "no more agents")
    log = parse_log_file(parent.write(tmp_path))
    assert [part.children for part in calls_in(log.messages)] == [(), (), ()]
    assert not log.unknown_records


def test_an_agent_that_two_calls_name_is_under_the_first(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    child = snails(parent)
    parent.spawn(child, "c1").spawn(child, "c2")
    child.write(tmp_path)
    log = parse_log_file(parent.write(tmp_path))
    assert (under(log.messages, "c1"), under(log.messages, "c2")) == (TEXTS, [])


def test_two_agents_with_the_same_path_are_under_their_calls(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    for number, call in ((2, "c1"), (3, "c2")):
        child = parent.agent(number, copies=False)
        child.records[0]["payload"]["source"]["subagent"]["thread_spawn"]["agent_path"] = "/root/twin"
        child.add_turn(f"Go {number}.", "Gone.").write(tmp_path)
        parent.spawn(child, call, task_name="/root/twin")
    log = parse_log_file(parent.write(tmp_path))
    assert (under(log.messages, "c1")[0], under(log.messages, "c2")[0]) == ("Go 2.", "Go 3.")


def test_a_late_output_of_a_copied_call_is_counted(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    parent.call("c0", "exec_command", cmd="ls")
    child = snails(parent)
    child.output("c0", "late")
    child.write(tmp_path)
    parent.output("c0", "files").call("c1", "spawn_agent")
    parent.output("c1", dumps({"agent_id": child.thread}).decode())
    log = parse_log_file(parent.write(tmp_path))
    assert under(log.messages, "c1") == TEXTS
    assert [finding.what for finding in log.unknown_records] == ["an output of a call that was copied"]


# Where files are looked for


def test_sub_agents_of_the_next_day_and_compressed_ones_are_found(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    first = snails(parent)
    parent.spawn(first, "c1")
    parent.time += timedelta(days=1)
    second = snails(parent, 3)
    parent.spawn(second, "c2")
    packed = first.write(tmp_path)
    packed.with_suffix(".jsonl.zst").write_bytes(zstd.compress(packed.read_bytes()))
    packed.unlink()
    second.write(tmp_path)
    log = parse_log_file(parent.write(tmp_path))
    assert (under(log.messages, "c1"), under(log.messages, "c2")) == (TEXTS, TEXTS)


def test_files_that_were_copied_elsewhere_are_found_beside_each_other(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    child = snails(parent)
    child.write_to(tmp_path)
    log = parse_log_file(parent.spawn(child, "c1").write_to(tmp_path))
    assert under(log.messages, "c1") == TEXTS


def test_only_headers_of_files_from_the_days_of_the_session_are_read(tmp_path: Path) -> None:
    parent = session().begin("Go.")
    later = session(9, parent.time + timedelta(days=40)).agent(8)
    later.records[0]["payload"]["source"]["subagent"]["thread_spawn"]["parent_thread_id"] = parent.thread
    later.records[0]["payload"]["parent_thread_id"] = parent.thread
    later.write(tmp_path)
    assert list(agent_files(CODEX, parent.write(tmp_path))) == []


def test_a_thread_is_found_by_its_id(tmp_path: Path) -> None:
    _, child, grandchild, path = garden(tmp_path)
    deepest = next(tmp_path.rglob(f"*{grandchild.thread}.jsonl"))
    assert parent_in(deepest) == child.thread
    assert parent_in(path) is None
    assert root_of(deepest) == path
    assert root_of(path) == path
    assert find_thread("7" * 8 + "-1111-4111-8111-111111111111", path) is None
    archived = tmp_path / "archived_sessions" / path.name
    archived.parent.mkdir()
    path.rename(archived)
    assert root_of(deepest) == archived
    assert under(parse_log_file(archived).messages, "c2") == ["Count the slugs.", "Four."]


HEADS: dict[str, tuple[JsonObject, bool]] = {
    "a long header": ({"base_instructions": {"text": "Be kind. " * 20_000}}, True),
    "a review": ({"source": {"subagent": "review"}}, False),
    "a session": ({"source": "cli", "parent_thread_id": None}, False),
    "text about agents": (
        {"source": "cli", "parent_thread_id": None, "base_instructions": {"text": '"parent_thread_id": "x"'}},
        False,
    ),
}


@pytest.mark.parametrize(("fields", "is_agent"), HEADS.values(), ids=HEADS)
def test_a_header_names_the_parent_of_a_thread(tmp_path: Path, fields: JsonObject, is_agent: bool) -> None:
    parent = session()
    path = parent.agent(2, **fields).write(tmp_path)
    assert parent_in(path) == (parent.thread if is_agent else None)


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_any_header_is_accepted(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("heads") / session().name()
    path.write_bytes(b'{"payload": {"parent_thread_id"' + data)
    found = parent_in(path)
    assert found is None or isinstance(found, str)
    assert thread_in(path.name) is not None


# Units


def test_a_session_is_read_with_its_sub_agents(tmp_path: Path) -> None:
    _, child, grandchild, path = garden(tmp_path)
    other = session(7).add_turn("Hello.", "Hello.").write(tmp_path)
    units = {unit.session.path: unit for unit in units_of(find_logs([tmp_path]).files)}
    assert units.keys() == {path, other}
    assert {file.session for file in units[path].agents} == {child.thread, grandchild.thread}
    assert units[other].agents == ()


def test_without_its_session_a_sub_agent_is_a_session(tmp_path: Path) -> None:
    *_, grandchild, path = garden(tmp_path)
    path.unlink()
    (unit,) = units_of(find_logs([tmp_path]).files)
    assert [file.session for file in unit.agents] == [grandchild.thread]


def test_a_change_of_a_sub_agent_is_a_change_of_the_session(tmp_path: Path) -> None:
    garden(tmp_path)
    session(7).add_turn("Hello.", "Hello.").write(tmp_path)
    family = {path for path in tmp_path.rglob("*.jsonl") if "000000000007" not in path.name}
    assert len(family) == 3
    for path in family:
        assert {file.path for file in sessions_of([path])} == family


def test_a_thread_with_two_rollouts_has_a_sub_agent_in_the_one_that_started_it(tmp_path: Path) -> None:
    parent = session().add_turn("Dig.", "Dug.")
    path = parent.write(tmp_path)
    parent.time += timedelta(hours=2)
    later = path.with_name(f"rollout-{parent.time:%Y-%m-%dT%H-%M-%S}-{parent.thread}_{'0' * 36}.jsonl")
    parent.begin("Go.")
    child = snails(parent)
    later.write_bytes(parent.spawn(child, "c1").lines())
    child.write(tmp_path)
    units = {unit.session.path: len(unit.agents) for unit in units_of(find_logs([tmp_path]).files)}
    assert units == {path: 0, later: 1}


PARENTS: dict[str, tuple[dict[str, str | None], str]] = {
    "no parent": ({"a": None}, "a"),
    "a missing parent": ({"a": "x"}, "a"),
    "the top": ({"a": "b", "b": "c", "c": None}, "c"),
    "the last existing parent": ({"a": "b", "b": "x"}, "b"),
    "itself": ({"a": "a"}, "a"),
    "its own child": ({"a": "b", "b": "a"}, "a"),
    "a cycle above it": ({"a": "b", "b": "c", "c": "b"}, "a"),
}


@each_row(("parents", "top"), PARENTS.values(), ids=PARENTS)
def test_the_session_above_a_thread(parents: dict[str, str | None], top: str) -> None:
    assert top_of("a", parents) == top


def test_many_sub_agents_below_each_other_are_all_read(tmp_path: Path) -> None:
    parent = root = session().begin("Go.")
    for number in range(2, 42):
        child = parent.agent(number, copies=False).begin(f"Go {number}.")
        parent.spawn(child, f"c{number}")
        if parent is not root:
            parent.write(tmp_path)
        parent = child
    parent.write(tmp_path)
    log = parse_log_file(root.write(tmp_path))
    messages = [*log.messages, *(message for orphans in log.orphans.values() for message in orphans)]
    assert [under(messages, f"c{number}")[:1] for number in (2, 20, 41)] == [
        ["Go 2."],
        ["Go 20."],
        ["Go 41."],
    ]
