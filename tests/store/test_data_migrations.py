"""Data migrations, on every engine: their results, progress, verification, and that nothing is lost."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import StoreError
from partita.store.connection import open_store
from partita.store.data_migrations import progress, runner
from partita.store.data_migrations.migration import StoredRow
from partita.store.data_migrations.report import MigrationReport
from partita.store.data_migrations.results import lost_values, stored_value
from partita.store.data_migrations.runner import MIGRATIONS, list_migrations, migrate
from partita.store.messages.legacy_content import upgrade
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import PartFilter
from partita.types.codec import decode_message, encode, to_json
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import DataPart, FilePart, JsonOutput, ReasoningPart, SourceUrlPart, TextPart
from tests.canonical import messages as any_message
from tests.store.emptying import in_empty_store
from tests.store.examples import tool_call_message, user_message
from tests.store.old_rows import (
    CALL,
    FILE,
    REASONING,
    SOURCE,
    everything,
    network,
    second,
    set_content,
    with_rows,
    without_checks,
)
from tests.tables import each_row

P = ParamSpec("P")

ROWS: dict[str, tuple[str, str]] = {
    "plain": ("user", "Is the library open?"),
    "number": ("user", "42"),
    "pasted": ("user", '{"open": "on mondays"}'),
    "string": ("assistant", '"Until six."'),
    "parts": ("assistant", second(CALL, REASONING, SOURCE, FILE, {"type": "text", "text": "Until six."})),
    "era": ("assistant", '{"content":"Until six.","toolInvocations":[],"annotations":["checked"]}'),
    "core": ("assistant", '[{"type":"text","text":"Until six."}]'),
    "network": ("assistant", second({"type": "text", "text": network()})),
    "today": ("assistant", second({"type": "text", "text": "It is open."})),
    "prose": ("user", second({"type": "text", "text": network()})),
}
NAMES = ["plain-text", "version-4-content", "network-strings", "stringified-values"]
CHANGED = {"plain-text": 4, "version-4-content": 3, "network-strings": 1, "stringified-values": 0}


async def get(store: Store, id: str) -> Message:
    found = await store.messages.get("t1", id)
    assert found is not None
    return found


def counts(reports: list[MigrationReport]) -> dict[str, tuple[int, int, int, int, int]]:
    return {r.name: (r.seen, r.changed, r.failed, r.verified, r.wrong) for r in reports}


async def test_all_migrations_convert_old_rows_to_the_current_form(store: Store) -> None:
    await with_rows(store, ROWS)
    before = {message.id: message for message in await store.messages.list("t1")}
    reports = await migrate(store)
    assert counts(reports) == {name: (10, CHANGED[name], 0, 10, 0) for name in NAMES}
    assert [report.state for report in reports] == ["done"] * len(NAMES)
    assert all(report.ok for report in reports)
    after = {message.id: message for message in await store.messages.list("t1")}
    for name in ("id", "seq", "parent_id", "created_at", "run_id"):
        kept = [getattr(message, name) for message in after.values()]
        assert kept == [getattr(message, name) for message in before.values()]
    assert after["today"] == before["today"]
    assert after["prose"] == before["prose"]


async def test_plain_text_becomes_one_part_marked_as_reconstructed(store: Store) -> None:
    await with_rows(store, ROWS)
    await migrate(store, ["plain-text"])
    for name, words in {
        "plain": ROWS["plain"][1],
        "number": "42",
        "pasted": '{"open": "on mondays"}',
    }.items():
        message = await get(store, name)
        assert message.content.parts == (TextPart(words),)
        assert message.content.metadata == {"reconstructed": True}
    assert (await get(store, "string")).content.parts == (TextPart("Until six."),)


async def test_a_whole_content_in_a_string_is_not_marked(store: Store) -> None:
    await with_rows(
        store, {"m": ("user", '"{\\"format\\":2,\\"parts\\":[{\\"type\\":\\"text\\",\\"text\\":\\"hi\\"}]}"')}
    )
    (report,) = await migrate(store, ["plain-text"])
    assert report.done == {"content decoded from a JSON string": 1}
    assert await get(store, "m") == UserMessage(
        id="m", content="hi", thread_id="t1", seq=1, created_at=(await get(store, "m")).created_at
    )


async def test_parts_of_version_4_become_current_parts(store: Store) -> None:
    await with_rows(store, ROWS)
    await migrate(store, ["version-4-content"])
    call, first, second_, source, file, text = (await get(store, "parts")).content.parts
    assert isinstance(call, ToolCallPart)
    assert (call.id, call.name, call.input, call.output) == (
        "k1",
        "hours",
        {"day": "monday"},
        JsonOutput({"until": "18:00"}),
    )
    assert isinstance(first, ReasoningPart)
    assert first.provider_metadata is not None
    assert first.provider_metadata["anthropic"] == {"signature": "c2lnbmVk"}
    assert isinstance(second_, ReasoningPart)
    assert first.text + second_.text == REASONING["reasoning"]
    assert isinstance(source, SourceUrlPart)
    assert isinstance(file, FilePart)
    assert file.url == "data:image/png;base64,iVBORw0KGgo="
    assert text == TextPart("Until six.")
    assert (await get(store, "parts")).type == "tool"
    era = await get(store, "era")
    assert era.content.parts == (TextPart("Until six."),)
    assert era.content.metadata == {"annotations": ["checked"]}
    assert (await store.messages.find_parts(PartFilter(tool="hours"))).items[0].message_id == "parts"


async def test_older_parts_can_be_read_without_a_migration(store: Store) -> None:
    flat: JsonObject = {"toolCallId": "k1", "toolName": "hours", "args": {"day": "monday"}}
    parts = [
        {"type": "tool-invocation", **flat, "result": {"until": "18:00"}, "state": "result"},
        {"type": "source", "id": "s1", "url": "https://library.example/hours"},
        {"type": "data", "data": {"floor": 2}},
    ]
    await with_rows(store, {"m": ("assistant", second(CALL, REASONING, *parts))})
    called = ToolCallPart(
        "k1", "hours", "output-available", {"day": "monday"}, output=JsonOutput({"until": "18:00"})
    )
    assert (await get(store, "m")).content.parts == (
        called,
        ReasoningPart("Look it up, ", provider_metadata={"anthropic": {"signature": "c2lnbmVk"}}),
        ReasoningPart("then answer."),
        called,
        SourceUrlPart("s1", "https://library.example/hours"),
        DataPart("data", {"floor": 2}),
    )


async def test_members_of_a_message_in_its_content_are_kept(store: Store) -> None:
    raw = '{"id":"old-7","role":"assistant","createdAt":"2024-02-30","content":"hi","mood":"fine"}'
    await with_rows(store, {"m": ("assistant", raw)})
    await migrate(store, ["version-4-content"])
    extra = (await get(store, "m")).content.extra
    assert dict(extra or {}) == {
        "id": "old-7",
        "role": "assistant",
        "createdAt": "2024-02-30",
        "mood": "fine",
    }


async def test_current_parts_are_unchanged_beside_older_ones(store: Store) -> None:
    ours: JsonObject = {
        "type": "tool-call",
        "id": "c9",
        "name": "ask",
        "state": "input-available",
        "input": {},
    }
    await with_rows(
        store, {"m": ("assistant", second(ours, SOURCE, {"type": "data", "name": "n", "data": 1}))}
    )
    await migrate(store, ["version-4-content"])
    parts = (await get(store, "m")).content.parts
    assert [type(part).__name__ for part in parts] == ["ToolCallPart", "SourceUrlPart", "DataPart"]


async def test_network_results_become_structure(store: Store) -> None:
    await with_rows(store, ROWS)
    (report,) = await migrate(store, ["network-strings"])
    assert report.done == {"network result of agent clerk": 1}
    message = await get(store, "network")
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution is not None
    assert message.content.network_execution.primitive_id == "clerk"
    assert message.parts == ()
    assert (await store.search("until six")).items[0].message_id == "network"


async def test_a_network_result_in_a_separate_field_becomes_structure(store: Store) -> None:
    called = '"toolCalls":[{"toolCallId":"k1","toolName":"hours","args":{"day":"monday"},"result":18}]'
    execution = network().replace('"toolCalls":[]', called)
    raw = f'{{"format":2,"parts":[{{"type":"text","text":"Until six."}}],"networkExecution":{execution}}}'
    await with_rows(store, {"m": ("assistant", raw)})
    assert [report.changed for report in await migrate(store)] == [0, 1, 1, 0]
    message = await get(store, "m")
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution is not None
    assert message.parts == (TextPart("Until six."),)


async def test_a_network_string_in_plain_text_is_migrated_by_both_migrations(store: Store) -> None:
    await with_rows(store, {"m": ("assistant", network())})
    dry_runs = await migrate(store, dry_run=True)
    reports = await migrate(store)
    assert [r.changed for r in dry_runs] == [r.changed for r in reports] == [1, 0, 1, 0]


async def test_a_dry_run_writes_nothing_and_returns_the_same_report(store: Store) -> None:
    await with_rows(store, ROWS)
    await with_rows(store, {"cut": ("assistant", '{"format":2,"parts":[{"type":"te')}, "t2")
    before = await everything(store)
    dry_runs = await migrate(store, dry_run=True, batch_size=3)
    assert await everything(store) == before
    reports = await migrate(store, verify=False)
    for reported, real in zip(dry_runs, reports, strict=True):
        assert (reported.dry_run, reported.state) == (True, "pending")
        for name in (
            "seen",
            "changed",
            "failed",
            "lost",
            "done",
            "threads",
            "examples",
            "failures",
            "losses",
        ):
            assert getattr(reported, name) == getattr(real, name), name
    assert dry_runs[0].examples[0].before == ROWS["plain"][1]
    assert '"reconstructed":true' in dry_runs[0].examples[0].after
    assert [(count.thread_id, count.changed) for count in dry_runs[1].threads] == [("t1", 3)]


class KilledError(BaseException):
    """Raised instead of killing the process."""


class Killer:
    """Raises when it is called the third time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *args: object) -> None:
        self.calls += 1
        if self.calls == 3:
            raise KilledError

    def after(self, work: Callable[P, None]) -> Callable[P, None]:
        """A function that does its work and then raises."""

        def wrapped(*args: P.args, **options: P.kwargs) -> None:
            work(*args, **options)
            self()

        return wrapped


@each_row("moment", ["inside a batch", "between two", "while verifying"])
@in_empty_store
async def test_a_killed_migration_continues_where_it_stopped(
    store: Store, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    await with_rows(store, ROWS)
    killer = Killer()
    with monkeypatch.context() as patch:
        if moment == "inside a batch":
            patch.setattr(progress, "save", killer.after(progress.save))
        if moment == "while verifying":
            patch.setattr(progress, "delete_batch", killer.after(progress.delete_batch))
        on_progress = killer if moment == "between two" else None
        with pytest.raises(KilledError):
            await migrate(store, batch_size=2, progress=on_progress)
    assert (await list_migrations(store))[0].state == ("done" if moment == "while verifying" else "running")
    again = await migrate(store, batch_size=2)
    if moment != "while verifying":
        assert counts(again) == {name: (10, CHANGED[name], 0, 10, 0) for name in NAMES}
    async with open_store("memory:") as uninterrupted:
        await with_rows(uninterrupted, ROWS)
        await migrate(uninterrupted)
        expected = [message.content for message in await uninterrupted.messages.list("t1")]
    assert [message.content for message in await store.messages.list("t1")] == expected
    assert (await everything(store))["data_migrations"] != []
    assert all(len(row[0]) < 20 for row in (await everything(store))["data_migrations"])


async def test_a_completed_migration_reads_only_new_messages(store: Store) -> None:
    await with_rows(store, ROWS)
    await migrate(store)
    before = await everything(store, "data_migrations")
    assert counts(await migrate(store)) == dict.fromkeys(NAMES, (0, 0, 0, 0, 0))
    assert counts(await migrate(store, again=True)) == dict.fromkeys(NAMES, (10, 0, 0, 10, 0))
    assert await everything(store, "data_migrations") == before
    await with_rows(store, {"new": ("user", "One more.")})
    assert counts(await migrate(store))["plain-text"] == (1, 1, 0, 1, 0)


async def test_a_failed_message_is_reported_and_not_changed(store: Store) -> None:
    cut = '{"format":2,"parts":[{"type":"te'
    await with_rows(store, {"cut": ("assistant", cut), **ROWS})
    await store.write(without_checks, "UPDATE messages SET role = ? WHERE id = ?", ("ghost", "pasted"))
    reports = await migrate(store)
    failed = [1, 2, 1, 1]
    assert [(r.seen, r.failed, r.ok) for r in reports] == [(11, count, False) for count in failed]
    assert [(f.thread_id, f.message_id) for f in reports[1].failures] == [("t1", "cut"), ("t1", "pasted")]
    assert "damaged" in reports[1].failures[0].what
    assert "ghost" in reports[1].failures[1].what
    rows = (await everything(store))["messages"]
    assert any(cut in row for row in rows)


async def test_an_exception_in_a_migration_does_not_stop_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_rows(store, ROWS)
    plain = MIGRATIONS["plain-text"]

    def faulty(message: Message, row: StoredRow) -> object:
        return 1 / 0 if row.id == "number" else plain.change(message, row)

    monkeypatch.setitem(MIGRATIONS, "plain-text", type(plain)("plain-text", "", faulty))  # type: ignore[arg-type]
    (report,) = await migrate(store, ["plain-text"])
    assert (report.changed, report.failed) == (3, 1)
    assert "ZeroDivisionError" in report.failures[0].what


async def test_a_change_that_would_lose_text_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_rows(store, ROWS)
    plain = MIGRATIONS["plain-text"]

    def lossy(message: Message, row: StoredRow) -> object:
        changed = plain.change(message, row)
        return changed and changed._replace(message=UserMessage(id=row.id, content="?"))

    monkeypatch.setitem(MIGRATIONS, "plain-text", type(plain)("plain-text", "", lossy))  # type: ignore[arg-type]
    (report,) = await migrate(store, ["plain-text"])
    assert (report.changed, report.failed) == (0, 4)
    assert "text would be lost: 'Is the library open?'" in report.failures[0].what
    assert any(ROWS["plain"][1] in row for row in (await everything(store))["messages"])


async def test_verification_finds_a_changed_row(store: Store) -> None:
    await with_rows(store, ROWS)
    await migrate(store, ["plain-text"], verify=False)
    await with_rows(store, {"new": ("user", "One more."), "other": ("user", "And one.")})
    migration = MIGRATIONS["plain-text"]
    await store.write(progress.start, migration.name, again=False)
    await store.write(runner.migrate_next, migration, 200, True)
    await set_content(store, "new", second({"type": "text", "text": "One less."}))
    await set_content(store, "other", "And one.")
    (report,) = await migrate(store, ["plain-text"])
    assert (report.verified, report.wrong, report.ok) == (2, 2, False)
    assert {fault.message_id: fault.what for fault in report.faults} == {
        "new": "the stored content is not the one that was written",
        "other": "the migration would change it again",
    }


async def test_a_message_that_was_changed_since_is_not_an_error(store: Store) -> None:
    await with_rows(store, {"m": ("user", "Plain.")})
    migration = MIGRATIONS["plain-text"]
    await store.write(progress.start, migration.name, again=False)
    await store.write(runner.migrate_next, migration, 200, True)
    await store.messages.save([user_message("m", "Something else.")], thread_id="t1")
    (report,) = await migrate(store, ["plain-text"])
    assert (report.verified, report.wrong) == (1, 0)


async def test_large_values_are_not_moved(store: Store) -> None:
    await store.threads.create("t1")
    output = "word " * 10_000
    await store.messages.save([tool_call_message("m", output=output)], thread_id="t1")
    before = await everything(store, "updated_at")
    content = next(row for row in before["messages"] if "m" in row)[7]
    changed = content.replace('"parts":[', f'"parts":[{second(SOURCE)[21:-2]},', 1)
    assert changed != content
    await set_content(store, "m", changed.replace("It is 41", "It was 41"))
    blobs = before["blobs"]
    moves = str((await everything(store))["messages"][0][8]).replace('["parts",1,', '["parts",2,')
    await store.write(lambda tx: tx.sql("UPDATE messages SET blobs = ?", (moves,)) and None)
    (report,) = await migrate(store, ["version-4-content"])
    assert (report.changed, report.wrong) == (1, 0)
    assert (await everything(store, "updated_at"))["blobs"] == blobs
    source, _, call, _ = (await get(store, "m")).content.parts
    assert isinstance(source, SourceUrlPart)
    assert isinstance(call, ToolCallPart)
    assert call.output is not None
    assert call.output.value == output  # type: ignore[union-attr]


async def test_threads_keep_their_position_in_the_list(store: Store) -> None:
    await with_rows(store, ROWS)
    before = await store.threads.get("t1")
    await migrate(store)
    assert await store.threads.get("t1") == before


async def test_an_owner_migrates_only_their_messages(store: Store) -> None:
    owners = ("", "u1", "u2")
    for owner in owners:
        await with_rows(store.scoped(owner), {"m": ("user", "?")})
    for owner in owners:
        await store.write(_set_all, f"Of {owner}.", owner)
    (report,) = await migrate(store.scoped("u1"), ["plain-text"])
    assert (report.seen, report.changed) == (1, 1)
    assert (report.threads[0].resource_id, report.threads[0].thread_id) == ("u1", "t1")
    (report,) = await migrate(store, ["plain-text"])
    assert (report.seen, report.changed, report.wrong) == (3, 2, 0)
    for owner in ("", "u1", "u2"):
        assert (await get(store.scoped(owner), "m")).content.parts == (TextPart(f"Of {owner}."),)


def _set_all(tx: Transaction, content: str, owner: str) -> None:
    tx.sql("UPDATE messages SET content = ? WHERE owner = ?", (content, owner))


async def test_progress_is_reported_and_the_rate_is_limited(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_rows(store, ROWS)
    reported: list[tuple[int, int]] = []
    waits: list[float] = []
    sleep = asyncio.sleep

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    await migrate(
        store,
        ["plain-text"],
        batch_size=4,
        per_second=0.01,
        progress=lambda done, total: reported.append((done, total)),
    )
    assert reported == [(4, 10), (8, 10), (10, 10)]
    # The sleeps are fake, so each is as long as all messages so far should have taken.
    assert [round(seconds, -2) for seconds in waits] == [400, 800, 1000]


@each_row(
    ("options", "hint"),
    [
        ({"names": ["nonsense"]}, "plain-text"),
        ({"batch_size": 0}, "1 or more"),
        ({"per_second": 0}, "above 0"),
    ],
)
async def test_invalid_options_are_refused(options: dict[str, object], hint: str) -> None:
    async with open_store("memory:") as store:
        with pytest.raises(StoreError, match=hint):
            await migrate(store, **options)  # type: ignore[arg-type]


async def test_migrations_can_be_listed(store: Store) -> None:
    assert [(r.name, r.state) for r in await list_migrations(store)] == [(name, "pending") for name in NAMES]
    await with_rows(store, ROWS)
    await migrate(store, ["plain-text"])
    first, *_ = await list_migrations(store)
    assert (first.state, first.seen, first.changed) == ("done", 10, 4)


@settings(max_examples=60, deadline=None)
@given(message=any_message())
def test_current_messages_are_changed_at_most_once(message: Message) -> None:
    """The result of a migration is not changed by it a second time."""

    role = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}.get(
        type(message).__name__, "tool"
    )
    for migration in MIGRATIONS.values():
        row = StoredRow("", "t", message.id, role, encode(message.content).decode())
        changed = migration.change(message, row)
        if changed is not None:
            again = decode_message(encode(changed.message))
            text = encode(again.content).decode()
            assert migration.change(again, row._replace(text=text)) is None


_texts = st.one_of(
    st.text(), st.from_regex(r'["\[{].{0,30}'), st.sampled_from([text for _, text in ROWS.values()])
)


@settings(max_examples=100, deadline=None)
@given(text=_texts, role=st.sampled_from(["user", "assistant", "system", "tool"]))
def test_any_text_in_the_column_can_be_read(text: str, role: str) -> None:
    """Reading any text gives a content that contains it."""

    found = upgrade(role, text)
    assert lost_values(stored_value(text), to_json(found.content), found.losses) == []
