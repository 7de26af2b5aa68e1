"""The overview of a thread, on every engine: turns, calls, changed files, commits, usage, branches."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from partita.errors import NotFoundError
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads.overview import PAGE, overview
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.overview import ThreadOverview
from partita.types.parts import ErrorTextOutput, TextOutput, TextPart
from partita.views.overview import OverviewBuilder
from tests.tables import each_row

from .examples import failed_call_message, user_message
from .ledger import record_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LARGE = "\n".join(f"line {number} of a file that is kept apart" for number in range(1000))


def call(id: str, name: str, input: dict[str, Any], text: str = "", **fields: Any) -> ToolCallPart:
    usual: dict[str, Any] = {"state": "output-available", "output": TextOutput(text)}
    return ToolCallPart(id=id, name=name, input=input, **usual | fields)


def edit(id: str, path: str, old: str, new: str, **fields: Any) -> ToolCallPart:
    return call(id, "Edit", {"file_path": path, "old_string": old, "new_string": new}, **fields)


def git(id: str, command: str, output: str) -> ToolCallPart:
    return call(id, "Bash", {"command": command}, output)


def answer(id: str, *parts: Any, minute: int = 0, **fields: Any) -> Message:
    return AssistantMessage(id=id, content=list(parts), created_at=NOON + timedelta(minutes=minute), **fields)


async def saved(store: Store, *messages: Message, thread_id: str = "t1", **fields: Any) -> ThreadOverview:
    """The overview of a thread with these messages."""
    await store.threads.create(thread_id, project="/home/me/app", **fields)
    await store.messages.save(messages, thread_id=thread_id)
    return await overview(store, thread_id)


async def test_turns_begin_at_prompts(store: Store) -> None:
    found = await saved(
        store,
        answer("a0", TextPart("Hello.")),
        user_message("u1", "  How *tall*\nis it? ", created_at=NOON),
        answer("a1", TextPart("Let me look."), call("c1", "Read", {"file_path": "a.py"}), minute=1),
        answer("a2", call("c2", "Read", {"file_path": "b.py"}), minute=3),
        user_message("note", "<command-name>/model</command-name>", type="event"),
        user_message("u2", "And the harbour?", created_at=NOON + timedelta(hours=1)),
        AssistantMessage(id="i1", content=[call("c3", "Read", {})], internal=True, created_at=NOON),
        answer("a3", TextPart("Two miles."), minute=62),
    )
    assert [(one.message_id, one.title, one.answer_id) for one in found.turns] == [
        ("a0", "", "a0"),
        ("u1", "How *tall* is it?", "a1"),
        ("u2", "And the harbour?", "a3"),
    ]
    assert [(one.responses, one.calls, one.seconds) for one in found.turns] == [
        (1, 0, 0), (2, 2, 180), (1, 0, 120)
    ]  # fmt: skip
    assert (found.started_at, found.ended_at) == (NOON, NOON + timedelta(minutes=62))
    assert found.seconds == 300
    assert not any(one.running for one in found.turns)


async def test_turns_end_with_their_runs(store: Store) -> None:
    await store.threads.create("t1")
    ends = {"first": 10, "second": 20}

    def set_times(tx: Transaction) -> None:
        for name, minute in ends.items():
            ended = tx.instant(NOON + timedelta(minutes=minute))
            tx.sql("UPDATE runs SET finished_at = ? WHERE id = ?", (ended, name))

    for name in ends:
        await store.runs.open("t1", id=name)
        await store.runs.finish(name)
    await store.runs.open("t1", id="lost")
    await store.runs.interrupt("lost", "the process ended")
    await store.write(set_times)
    messages: list[Message] = [
        user_message("u1", created_at=NOON),
        answer("a1", TextPart("First,"), minute=1, run_id="first"),
        user_message("u2", created_at=NOON + timedelta(minutes=5)),  # the run continues
        answer("a2", TextPart("second."), minute=6, run_id="first"),
        user_message("u3", created_at=NOON + timedelta(minutes=15)),
        answer("a3", TextPart("Third."), minute=16, run_id="second"),
        user_message("u4", created_at=NOON + timedelta(minutes=30)),
        answer("a4", TextPart("Fourth"), minute=31, run_id="lost"),
    ]
    await store.messages.save(messages, thread_id="t1")
    found = await overview(store, "t1")
    assert [turn.seconds for turn in found.turns] == [60, 300, 300, 60]


async def test_calls_have_their_kind_state_and_lines(store: Store) -> None:
    found = await saved(
        store,
        user_message("u1"),
        answer(
            "a1",
            git("c1", "cd /home/me/app && make", "done"),
            git("c2", "make test", "Exit code: 2\nWall time: 1 seconds\nOutput:\nno"),
            edit("c3", "/home/me/app/a.py", "one\ntwo", "one\n2\nthree"),
            call("c4", "Bash", {"command": "rm -r /"}, state="output-denied", output=None),
            call("c5", "Grep", {"pattern": "x"}, state="input-available", output=None),
        ),
        failed_call_message("a2", tool="measure"),
    )
    assert [(one.part, one.kind, one.state, one.added, one.removed) for one in found.calls] == [
        ("0", "command", "done", 0, 0),
        ("1", "command", "failed", 0, 0),
        ("2", "edit", "done", 2, 1),
        ("3", "command", "denied", 0, 0),
        ("4", "search", "interrupted", 0, 0),
        ("0", "other", "failed", 0, 0),
    ]
    assert (found.calls[0].title, found.calls[0].subject) == ("Shell", "make")
    assert (found.commands, found.failed, found.turns[0].failed, found.turns[0].edits) == (3, 2, 2, 1)


async def test_a_call_without_output_is_running_while_its_run_is(store: Store) -> None:
    await store.threads.create("t1")
    run = await store.runs.open("t1")
    waiting = call("c1", "Bash", {"command": "make"}, state="input-available", output=None)
    messages = [user_message("u1"), answer("a1", waiting), user_message("u2"), answer("a2", waiting)]
    await store.messages.save(messages, thread_id="t1")
    found = await overview(store, "t1")
    assert [one.running for one in found.turns] == [False, True]
    assert [one.state for one in found.calls] == ["interrupted", "running"]
    await store.runs.finish(run.id)
    found = await overview(store, "t1")
    assert [one.state for one in found.calls] == ["interrupted", "interrupted"]


async def test_times_of_calls(store: Store) -> None:
    timed = [NOON + timedelta(minutes=3), NOON + timedelta(minutes=5)]
    await saved(store, user_message("u1", created_at=NOON), answer("a1", git("c1", "make", ""), minute=2))
    await store.write(
        lambda tx: (
            tx.sql("UPDATE parts SET started_at = ?, ended_at = ?", tuple(map(tx.instant, timed))).rowcount
        )
    )
    found = await overview(store, "t1")
    assert [found.calls[0].started_at, found.calls[0].ended_at] == timed
    assert found.turns[0].seconds == 300


async def test_files_are_listed_with_the_edits_that_succeeded(store: Store) -> None:
    found = await saved(
        store,
        user_message("u1"),
        answer(
            "a1",
            call("c1", "Write", {"file_path": "/home/me/app/new.py", "content": "a\nb\n"}),
            edit("c2", "/home/me/app/old.py", "one", "1"),
            edit("c3", "/home/me/app/old.py", "x", "y", state="output-error", output=ErrorTextOutput("no")),
        ),
        answer("a2", edit("c4", "/home/me/app/old.py", "two\nthree", "2")),
    )
    assert [(one.path, one.added, one.removed) for one in found.files] == [
        ("new.py", 2, 0), ("old.py", 2, 3)
    ]  # fmt: skip
    assert [(one.message_id, one.part) for one in found.files[1].edits] == [("a1", "1"), ("a2", "0")]


PATCH = """*** Begin Patch
*** Add File: made.py
+one
*** Update File: from.py
*** Move to: to.py
@@
-a
+b
*** Delete File: gone.py
*** End Patch"""


async def test_files_that_were_created_moved_and_deleted(store: Store) -> None:
    patch = call("c1", "apply_patch", {"input": PATCH})
    found = await saved(store, user_message("u1"), answer("a1", patch, edit("c2", "to.py", "c", "d")))
    assert [(one.path, one.created, one.deleted, len(one.edits)) for one in found.files] == [
        ("made.py", True, False, 1),
        ("to.py", False, False, 2),
        ("gone.py", False, True, 1),
    ]


async def test_the_lines_of_a_large_file_are_counted(store: Store) -> None:
    write = call("c1", "Write", {"file_path": "/home/me/app/large.py", "content": LARGE})
    found = await saved(store, user_message("u1"), answer("a1", write))
    assert [(one.path, one.added) for one in found.files] == [("large.py", 1000)]


COMMIT = "[main 1234567] Add a lamp\n 1 file changed"
AMENDED = "[main 89abcde] Add a lamp and a bulb\n 1 file changed"
REMOTES = {
    "git@github.com:me/app.git": ("https://github.com/me/app", "/commit/", "/tree/"),
    "https://gitlab.example.com/me/sub/app.git": (
        "https://gitlab.example.com/me/sub/app", "/-/commit/", "/-/tree/"
    ),
    "ssh://git@bitbucket.org/me/app": ("https://bitbucket.org/me/app", "/commits/", "/branch/"),
    "https://token@codeberg.org/me/app/": ("https://codeberg.org/me/app", "/commit/", "/src/branch/"),
}  # fmt: skip


@each_row(("remote", "expected"), REMOTES.items(), ids=REMOTES)
async def test_commits_are_linked(store: Store, remote: str, expected: tuple[str, str, str]) -> None:
    page, commit, branch = expected
    found = await saved(
        store,
        user_message("u1"),
        answer("a1", git("c1", "git commit -m x", COMMIT)),
        thread_id=page,
        metadata={"gitRepository": remote, "gitBranch": "other"},
    )
    assert [(one.hash, one.subject, one.url) for one in found.commits] == [
        ("1234567", "Add a lamp", f"{page}{commit}1234567")
    ]
    assert (found.branch, found.repository_url) == ("main", page)
    assert found.branch_url == f"{page}{branch}main"


@each_row("remote", ["/home/me/app.git", "https://git.example.com/me/app", "javascript:alert(1)", "", 7])
async def test_other_remotes_have_no_links(store: Store, remote: object) -> None:
    found = await saved(
        store,
        user_message("u1"),
        answer("a1", git("c1", "git commit -m x", COMMIT)),
        thread_id=f"t {remote}",
        metadata={"gitRepository": remote},
    )
    assert (found.repository_url, found.branch_url, found.commits[0].url) == (None, None, None)


async def test_an_amended_commit_replaces_the_one_before(store: Store) -> None:
    found = await saved(
        store,
        user_message("u1"),
        answer("a1", git("c1", "git add . && git commit -m x", f"{LARGE}\n{COMMIT}")),
        answer("a2", git("c2", "git commit --amend -m y", AMENDED)),
        answer("a3", git("c3", "gh pr create", "https://github.com/me/app/pull/7\n")),
    )
    assert [(one.hash, one.message_id) for one in found.commits] == [("89abcde", "a2")]
    assert [(one.url, one.message_id) for one in found.pull_requests] == [
        ("https://github.com/me/app/pull/7", "a3")
    ]


async def test_calls_of_sub_agents_are_included(store: Store) -> None:
    child = answer("s1", TextPart("Looking."), edit("c2", "/home/me/app/a.py", "x", "y"))
    agent = call("c1", "Task", {"subagent_type": "scout", "prompt": "Look."}, children=(child,))
    await saved(store, user_message("u1"), answer("a1", agent, git("c3", "ls", "")))
    used = [("k1", "a1", 5), ("k2", "s1", 7), ("k3", "elsewhere", 11)]
    await store.usage.record(
        [record_of("t1", key, output, message_id=made, cost=1.0) for key, made, output in used]
    )
    found = await overview(store, "t1")
    assert [(one.part, one.kind, one.output_tokens, one.cost) for one in found.calls] == [
        ("0", "agent", 5, 1.0), ("0.children.0.1", "edit", 7, 1.0), ("1", "command", 5, 1.0)
    ]  # fmt: skip
    assert found.agents == 1
    assert [(one.path, one.edits[0].part) for one in found.files] == [("a.py", "0.children.0.1")]
    (turn,) = found.turns
    assert (turn.input_tokens, turn.output_tokens, turn.cost) == (200, 12, 2.0)
    assert (found.input_tokens, found.output_tokens, found.cost) == (300, 23, 3.0)


async def test_another_branch(store: Store) -> None:
    found = await saved(
        store,
        user_message("u1", "One?"),
        answer("a1", git("c1", "ls", "")),
        user_message("u2", "Two?", parent_id=""),
        answer("a2"),
    )
    assert [one.title for one in found.turns] == ["Two?"]
    other = await overview(store, "t1", through="u1")
    assert ([one.title for one in other.turns], other.commands) == (["One?"], 1)


async def test_a_thread_without_messages(store: Store) -> None:
    found = await saved(store)
    assert (found.turns, found.calls, found.started_at, found.cost) == ((), (), None, None)


async def test_what_does_not_exist_is_not_found(store: Store) -> None:
    await saved(store, user_message("u1"))
    with pytest.raises(NotFoundError, match="none"):
        await overview(store, "none")
    with pytest.raises(NotFoundError, match="none"):
        await overview(store, "t1", through="none")


async def test_reading_a_long_thread_can_be_cancelled(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [user_message(f"m{number}") for number in range(3 * PAGE)]
    await saved(store, *messages)
    added: list[str] = []
    started = asyncio.Event()
    add = OverviewBuilder.add

    def counted(builder: OverviewBuilder, message: Message, *more: Any) -> None:
        added.append(message.id)
        loop.call_soon_threadsafe(started.set)
        add(builder, message, *more)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(OverviewBuilder, "add", counted)
    reading = asyncio.create_task(overview(store, "t1"))
    await started.wait()
    reading.cancel()
    await asyncio.wait([reading])
    await store.threads.count()  # waits until the page that was read is done
    assert reading.cancelled()
    assert 0 < len(added) < len(messages)
