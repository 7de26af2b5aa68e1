"""Lists of threads: filters, summaries, facets, and changes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from partita.errors import NotFoundError, StoreError
from partita.store import changes
from partita.store.store import Store
from partita.store.threads import facets
from partita.store.threads import filter as thread_filter
from partita.store.threads.facets import Facets, FacetValue
from partita.store.values import RunFilter, ThreadFilter, ThreadSort
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval
from partita.types.threads import Thread
from tests.tables import each_row

from .examples import assistant_message, failed_call_message, tool_call_message, user_message
from .ledger import record_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def harbour(store: Store) -> Store:
    """Four threads: `new` of an hour ago, others of 3, 20 and 200 days ago; and one of another owner."""
    ages = {"new": 0, "week": 3, "month": 20, "old": 200}
    fields: dict[str, dict[str, Any]] = {
        "new": {"agent": "keeper", "project": "harbour", "title": "New"},
        "week": {"agent": "keeper", "project": "lamps", "metadata": {"pinned": True}},
        "month": {"agent": "smith", "project": "harbour", "metadata": {"pinned": "yes", "tags": ["oil"]}},
        "old": {"project": "lamps", "metadata": {"pinned": False, "tags": ["oil", "a b", 3], "tag:oil": 1}},
    }
    for name, days in ages.items():
        await store.threads.save(Thread(id=name, **fields[name]))
        await store.messages.save([user_message(f"{name}-1", f"About {name}?")], thread_id=name)
        if name in ("new", "month"):
            await store.messages.save([tool_call_message(f"{name}-2", call=f"{name}-c")], thread_id=name)
        if name == "old":
            await store.messages.save([failed_call_message("old-2", tool="saw")], thread_id=name)
        moment = NOW - timedelta(days=days, hours=1)
        await store.threads.save(Thread(id=name, updated_at=moment, **fields[name]))
    await store.usage.record(
        [
            record_of("new", "r1", model="opus", cost=0.5),
            record_of("new", "r2", model="haiku"),
            record_of("new", "r3", model="opus", cost=0.25),
            record_of("week", "r4", model="haiku"),
        ]
    )
    await store.scoped("bob").threads.save(Thread(id="new", agent="bobs", metadata={"pinned": True}))
    await store.scoped("bob").messages.save([tool_call_message("b1", tool="row")], thread_id="new")
    store.clock = lambda: NOW
    return store.scoped("")


LISTED: Mapping[str, tuple[ThreadFilter, list[str]]] = {
    "all": (ThreadFilter(), ["new", "week", "month", "old"]),
    "a model": (ThreadFilter(model="haiku"), ["new", "week"]),
    "an unknown model": (ThreadFilter(model="hai"), []),
    "a tool": (ThreadFilter(tool="measure"), ["new", "month"]),
    "a tool of another owner": (ThreadFilter(tool="row"), []),
    "pinned": (ThreadFilter(pinned=True), ["week"]),
    "not pinned": (ThreadFilter(pinned=False), ["new", "month", "old"]),
    "a tag": (ThreadFilter(tags=["oil"]), ["month", "old"]),
    "two tags": (ThreadFilter(tags=["oil", "a b"]), ["old"]),
    "an unknown tag": (ThreadFilter(tags=["oil", "none"]), []),
    "ids": (ThreadFilter(ids=("old", "new", "none")), ["new", "old"]),
    "no ids": (ThreadFilter(ids=()), []),
    "all together": (ThreadFilter(tool="measure", model="opus", agent="keeper", pinned=False), ["new"]),
}


@each_row("few", [0, 5000], ids=["thread by thread", "by its calls"])
async def test_threads_are_listed_by_filter(
    harbour: Store, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(thread_filter, "FEW_CALLS", few)
    found = {
        name: [one.thread.id for one in await harbour.threads.summaries(wanted)]
        for name, (wanted, _) in LISTED.items()
    }
    assert found == {name: ids for name, (_, ids) in LISTED.items()}


async def test_a_thread_without_visible_messages_is_empty_unless_it_has_a_run(harbour: Store) -> None:
    """`last` is never an empty thread, and lists can leave them out."""
    await harbour.threads.create("none")
    await harbour.threads.create("notes")
    await harbour.messages.save([user_message("n1", internal=True)], thread_id="notes")
    await harbour.threads.create("running")
    await harbour.runs.open("running", id="r1")
    empty = await harbour.threads.list(ThreadFilter(empty=True))
    assert {one.id for one in empty} == {"none", "notes"}
    filled = await harbour.threads.list(ThreadFilter(empty=False))
    assert {one.id for one in filled} == {"running", "new", "week", "month", "old"}
    assert (await harbour.threads.facets(ThreadFilter(empty=False))).threads == 5
    await harbour.runs.finish("r1")
    newest = await harbour.threads.latest()
    assert newest is not None
    assert newest.id == "new"
    smith = await harbour.threads.latest(ThreadFilter(agent="smith"))
    assert smith is not None
    assert smith.id == "month"
    assert await harbour.threads.latest(ThreadFilter(ids=["none"])) is None
    assert await harbour.threads.agents() == ["keeper", "smith"]


SORTED: Mapping[ThreadSort, list[str]] = {
    "time": ["new", "week", "month", "old"],
    "cost": ["new", "week", "old", "month"],
    "tokens": ["new", "week", "old", "month"],
    "messages": ["old", "new", "month", "week"],
}


@each_row(("sort", "expected"), SORTED.items())
async def test_threads_are_sorted_in_pages(harbour: Store, sort: ThreadSort, expected: list[str]) -> None:
    await harbour.messages.save([user_message("old-3")], thread_id="old")
    await harbour.threads.save(Thread(id="old", updated_at=NOW - timedelta(days=200)))
    for order in ("desc", "asc"):
        found: list[str] = []
        cursor = None
        while True:
            page = await harbour.threads.summaries(limit=1, cursor=cursor, sort=sort, order=order)  # type: ignore[arg-type]
            found += [one.thread.id for one in page]
            cursor = page.next
            if cursor is None:
                break
        assert found == (expected if order == "desc" else expected[::-1])


async def test_a_cursor_of_another_order_is_refused(harbour: Store) -> None:
    page = await harbour.threads.list(limit=1)
    with pytest.raises(StoreError, match="not a cursor of this list"):
        await harbour.threads.list(limit=1, cursor=page.next, sort="cost")


async def test_runs_are_listed_by_project_and_time(harbour: Store) -> None:
    for number, thread in enumerate(("new", "week", "month")):
        harbour.clock = lambda number=number: NOW + timedelta(hours=number)
        await harbour.runs.open(thread, id=f"run-{thread}")
    wanted = {
        "all": RunFilter(),
        "project": RunFilter(project="harbour"),
        "since": RunFilter(since=NOW + timedelta(hours=1)),
        "until": RunFilter(until=NOW + timedelta(hours=1)),
    }
    found = {name: [run.thread_id for run in await harbour.runs.list(one)] for name, one in wanted.items()}
    assert found == {
        "all": ["month", "week", "new"],
        "project": ["month", "new"],
        "since": ["month", "week"],
        "until": ["new"],
    }


async def test_thread_ids_are_listed_by_the_same_filters(harbour: Store) -> None:
    found = await harbour.threads.list(
        ThreadFilter(model="opus", tool="measure", pinned=False, ids=["new", "month"])
    )
    assert [one.id for one in found] == ["new"]


async def test_the_fields_of_a_summary(harbour: Store) -> None:
    new, week, month, old = await harbour.threads.summaries()
    assert (new.models, new.input_tokens, new.output_tokens, new.cost) == (("opus", "haiku"), 300, 30, 0.75)
    assert (week.models, week.cost, week.pinned) == (("haiku",), None, True)
    assert (month.models, month.pinned, month.errors) == ((), False, 0)
    assert (old.errors, old.pinned, old.tags, month.tags) == (1, False, ("oil", "a b"), ("oil",))
    assert [one.title for one in (new, week)] == ["New", "About week?"]
    assert [one.run_status for one in (new, week, month, old)] == [None] * 4


async def test_the_summary_of_one_thread_is_that_of_the_list(harbour: Store) -> None:
    for listed in await harbour.threads.summaries():
        assert await harbour.threads.summary(listed.thread.id) == listed
    with pytest.raises(NotFoundError, match="no thread 'none'"):
        await harbour.threads.summary("none")


async def test_pages_of_summaries_continue_at_their_end(harbour: Store) -> None:
    first = await harbour.threads.summaries(limit=3)
    second = await harbour.threads.summaries(limit=3, cursor=first.next)
    assert [one.thread.id for one in (*first, *second)] == ["new", "week", "month", "old"]
    assert second.next is None


async def test_a_summary_has_the_active_run(harbour: Store) -> None:
    await harbour.runs.open("week", id="r", status="running")
    await harbour.runs.open("old", id="s", status="running")
    await harbour.runs.finish("s")
    summaries = {one.thread.id: one for one in await harbour.threads.summaries()}
    assert (summaries["week"].run_id, summaries["week"].run_status) == ("r", "running")
    assert summaries["old"].run_id is None


async def test_a_summary_is_waiting_when_its_last_message_needs_approval(harbour: Store) -> None:
    call = ToolCallPart(id="c9", name="saw", state="approval-requested", input={}, approval=Approval(id="a9"))
    await harbour.messages.save([AssistantMessage(id="q", content=[call])], thread_id="week")
    await harbour.messages.save([AssistantMessage(id="q2", content=[call])], thread_id="old")
    await harbour.messages.save([assistant_message("q3")], thread_id="old")
    assert {one.thread.id for one in await harbour.threads.summaries() if one.waiting} == {"week"}


def counts(values: tuple[FacetValue, ...]) -> dict[str, int]:
    return {one.value: one.threads for one in values}


async def test_facets_count_threads(harbour: Store) -> None:
    found = await harbour.threads.facets()
    assert (found.threads, found.errors, found.pinned, found.complete) == (4, 1, 1, True)
    assert counts(found.agents) == {"keeper": 2, "smith": 1}
    assert counts(found.projects) == {"harbour": 2, "lamps": 2}
    assert counts(found.models) == {"haiku": 2, "opus": 1}
    assert counts(found.tools) == {"measure": 2, "saw": 1}
    assert (found.dates.today, found.dates.week, found.dates.month, found.dates.older) == (1, 1, 1, 1)


async def test_a_facet_ignores_only_its_own_condition(harbour: Store) -> None:
    async def under(**wanted: Any) -> Facets:
        return await harbour.threads.facets(ThreadFilter(**wanted))

    by_agent = await under(agent="smith")
    assert (by_agent.threads, counts(by_agent.agents)) == (1, {"keeper": 2, "smith": 1})
    assert (counts(by_agent.projects), counts(by_agent.tools)) == ({"harbour": 1}, {"measure": 1})
    by_model = await under(model="opus")
    assert (by_model.threads, counts(by_model.models)) == (1, {"haiku": 2, "opus": 1})
    assert counts(by_model.agents) == {"keeper": 1}
    by_tool = await under(tool="saw")
    assert (by_tool.threads, counts(by_tool.tools)) == (1, {"measure": 2, "saw": 1})
    by_errors = await under(has_errors=True)
    assert (by_errors.threads, by_errors.errors, by_errors.pinned) == (1, 1, 0)
    by_time = await under(since=NOW - timedelta(days=7))
    assert (by_time.threads, by_time.dates.older, counts(by_time.agents)) == (2, 1, {"keeper": 2})
    assert (await under(pinned=True)).pinned == 1
    by_tag = await under(tags=["a b"])
    assert (by_tag.threads, counts(by_tag.tags), counts(by_tag.tools)) == (
        1,
        {"oil": 2, "a b": 1},
        {"saw": 1},
    )
    by_run = await under(active=True)
    assert (by_run.threads, by_run.running, by_run.errors) == (0, 0, 0)
    await harbour.runs.open("month", id="r", status="running")
    by_run = await under(active=True)
    assert (by_run.threads, by_run.running, counts(by_run.agents)) == (1, 1, {"smith": 1})
    assert (await under(active=False)).running == 1


async def test_facets_are_bounded(harbour: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in {"MAX_THREADS": 3, "MAX_SEARCHED": 1, "MAX_VALUES": 1}.items():
        monkeypatch.setattr(facets, name, most)
    found = await harbour.threads.facets()
    assert (found.threads, found.complete, found.searched) == (3, False, 1)
    assert (counts(found.agents), counts(found.models)) == ({"keeper": 2}, {"haiku": 1})


# What changed since


NARROW: list[dict[str, Any]] = [
    {},
    {"agent": "keeper"},
    {"project": "lamps", "has_errors": True},
    {"model": "haiku"},
    {"tool": "measure", "pinned": False},
    {"agent": "keeper", "model": "haiku", "pinned": True, "since": NOW - timedelta(days=7)},
    {"tool": "measure", "model": "opus", "project": "harbour", "until": NOW},
    {"text": "about", "has_errors": False, "since": NOW - timedelta(days=30)},
    {"agent": "unknown", "tool": "saw"},
]


@each_row("filter_", NARROW, ids=lambda filter_: ", ".join(filter_) or "nothing")
async def test_the_count_of_a_facet_is_that_of_the_filtered_list(
    harbour: Store, filter_: dict[str, Any]
) -> None:
    async def left(**chosen: Any) -> int:
        return len((await harbour.threads.summaries(ThreadFilter(**{**filter_, **chosen}))).items)

    found = await harbour.threads.facets(ThreadFilter(**filter_))
    assert found.threads == found.searched == await left()
    assert found.errors == await left(has_errors=True)
    assert found.pinned == await left(pinned=True)
    facets_by_name = {
        "agent": found.agents,
        "project": found.projects,
        "model": found.models,
        "tool": found.tools,
    }
    for name, values in facets_by_name.items():
        assert {one.value: one.threads for one in values} == {
            one.value: await left(**{name: one.value}) for one in values
        }
    dates = found.dates
    whole = await left(since=None, until=None)
    assert dates.today + dates.week + dates.month + dates.older == whole
    assert dates.today == await left(since=NOW - timedelta(days=1), until=None)


async def test_a_changed_thread_is_returned_once(store: Store) -> None:
    moment = NOW
    store.clock = lambda: moment
    await store.threads.create("before")
    moment += timedelta(seconds=10)
    state = await store.read(changes.start_polling)
    assert await store.read(changes.poll, state) == changes.Changes([], [])
    moment += timedelta(seconds=1)
    await store.threads.set_title("before", "Changed")
    await store.threads.save(Thread(id="ancient", updated_at=NOW - timedelta(days=900)))
    changed = await store.read(changes.poll, state)
    assert {one.id for one in changed.threads} == {"before", "ancient"}
    for _ in range(3):
        assert await store.read(changes.poll, state) == changes.Changes([], [])
        moment += timedelta(seconds=2)
    await store.threads.set_title("before", "Again")
    assert [one.id for one in (await store.read(changes.poll, state)).threads] == ["before"]


async def test_many_changes_are_returned_by_several_polls(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_THREADS", 2)
    moment = NOW
    store.clock = lambda: moment
    state = await store.read(changes.start_polling)
    for number in range(7):
        moment += timedelta(milliseconds=1)
        await store.threads.create(f"t{number}")
    found: set[str] = set()
    for _ in range(8):
        found |= {one.id for one in (await store.read(changes.poll, state)).threads}
    assert found == {f"t{number}" for number in range(7)}


async def test_runs_are_returned_when_they_start_and_end(store: Store) -> None:
    await store.threads.create("t")
    state = await store.read(changes.start_polling)
    await store.runs.open("t", id="r", status="pending")

    async def changed_runs() -> list[tuple[str, str | None]]:
        return [(one.id, one.status) for one in (await store.read(changes.poll, state)).runs]

    assert [await changed_runs(), await changed_runs()] == [[("r", "pending")], []]
    await store.runs.finish("r")
    assert [await changed_runs(), await changed_runs()] == [[("r", "completed")], []]
    await store.runs.open("t", id="s", status="running")
    assert await changed_runs() == [("s", "running")]
    await store.threads.delete("t")
    assert await changed_runs() == [("s", None)]
