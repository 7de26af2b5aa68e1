"""Branches in session files of Claude Code. Most forks of `parentUuid` are not branches."""

import pytest

from partita.formats.claude_code import branches
from partita.types.json import JsonObject
from tests.logs.claude_session import SESSION, Session, read, text, use
from tests.tables import each_row


def rewind() -> Session:
    session = Session().turn("one")
    there = session.last
    return session.turn("two").prompt("two, otherwise", parent=there).answer(text="Fine.")


def rewind_twice() -> Session:
    session = Session().turn("one")
    there = session.last
    session.turn("a")
    return session.prompt("b", parent=there).answer(text=".").prompt("c", parent=there).answer(text=".")


def rewind_to_the_start() -> Session:
    return Session().turn("one").turn("more").prompt("one, otherwise", parent=None).answer(text="Fine.")


def rewind_to_the_start_below_hooks() -> Session:
    session = Session().attachment("hook_success", parent=None, hookEvent="SessionStart")
    there = session.last
    return session.turn("one").prompt("one, otherwise", parent=there).answer(text="Fine.")


def retry() -> Session:
    session = Session().turn("one")
    there = session.last
    return session.prompt("two").prompt("two, again", parent=there).answer(text="Fine.")


def rewind_over_calls() -> Session:
    session = Session().work("one", "c1", "c2")
    there = session.last
    session.work("two", "c3").prompt("two, otherwise", parent=there)
    return session.answer(calls=[use("c4")]).result("c4").answer(text="Fine.")


def rewind_to_a_line_below_the_response() -> Session:
    session = Session().turn("one").attachment("skill_listing", content="x")
    there = session.last
    return session.turn("two").prompt("two, otherwise", parent=there).answer(text="Fine.")


def two_processes() -> Session:
    """Two processes continue the same conversation, each in the middle of the responses of the other."""
    session = Session().turn("one")
    fork = session.last
    session.prompt("a").piece("A", text("a1"))
    a = session.last
    session.prompt("b", parent=fork).piece("B", text("b1"))
    b = session.last
    a = session.piece("A", text("a2"), parent=a).last
    b = session.piece("B", text("b2"), parent=b).last
    a = session.prompt("a more", parent=a).answer(text="A.").last
    b = session.prompt("b more", parent=b).answer(text="B.").last
    session.answer(text="A, still.", parent=a)
    return session.prompt("b last", parent=b)


REAL: dict[str, tuple[Session, dict[str, str]]] = {
    "a rewind": (
        rewind(),
        {"u-1": "", "msg-u-1": "u-1", "u-3": "msg-u-1", "msg-u-2": "u-3", "u-5": "msg-u-1", "msg-u-3": "u-5"},
    ),
    "two rewinds to one place": (
        rewind_twice(),
        {
            "u-1": "",
            "msg-u-1": "u-1",
            "u-3": "msg-u-1",
            "msg-u-2": "u-3",
            "u-5": "msg-u-1",
            "msg-u-3": "u-5",
            "u-7": "msg-u-1",
            "msg-u-4": "u-7",
        },
    ),
    "a rewind to the start": (
        rewind_to_the_start(),
        {"u-1": "", "msg-u-1": "u-1", "u-3": "msg-u-1", "msg-u-2": "u-3", "u-5": "", "msg-u-3": "u-5"},
    ),
    "a rewind to the start, below hooks": (
        rewind_to_the_start_below_hooks(),
        {"u-2": "", "msg-u-1": "u-2", "u-4": "", "msg-u-2": "u-4"},
    ),
    "a retry: two prompts with one parent": (
        retry(),
        {"u-1": "", "msg-u-1": "u-1", "u-3": "msg-u-1", "u-4": "msg-u-1", "msg-u-2": "u-4"},
    ),
    "a rewind over calls": (
        rewind_over_calls(),
        {
            "u-1": "",
            "msg-u-1": "u-1",
            "msg-u-2": "msg-u-1",
            "u-9": "msg-u-2",
            "msg-u-3": "u-9",
            "msg-u-4": "msg-u-3",
            "u-15": "msg-u-2",
            "msg-u-5": "u-15",
            "msg-u-6": "msg-u-5",
        },
    ),
    "a rewind to a line below the response": (
        rewind_to_a_line_below_the_response(),
        {"u-1": "", "msg-u-1": "u-1", "u-4": "msg-u-1", "msg-u-2": "u-4", "u-6": "msg-u-1", "msg-u-3": "u-6"},
    ),
    "two processes": (
        two_processes(),
        {
            "u-1": "",
            "msg-u-1": "u-1",
            "u-3": "msg-u-1",
            "A": "u-3",
            "u-5": "msg-u-1",
            "B": "u-5",
            "u-9": "A",
            "msg-u-2": "u-9",
            "u-11": "B",
            "msg-u-3": "u-11",
            "msg-u-4": "msg-u-2",
            "u-14": "msg-u-3",
        },
    ),
}


@each_row("live", [False, True], ids=["at once", "live"])
@each_row(("session", "parents"), REAL.values(), ids=REAL)
def test_rewinds_and_retries_are_branches(session: Session, parents: dict[str, str], live: bool) -> None:
    reading = read(session, live=live)
    assert reading.parents == parents
    assert not reading.unknown_records


def parallel() -> Session:
    session = Session().prompt("one").answer(calls=[use("c1"), use("c2")])
    first, second = (record["uuid"] for record in session.records[-2:])
    session.result("c2", parent=second).result("c1", parent=first)
    return session.answer(text="Both.").turn("two")


def progress() -> Session:
    session = Session().prompt("one").answer(calls=[use("c1", "Bash")])
    call = session.last
    for _ in range(3):
        session.add("progress", parent=call, parentToolUseID="c1", data={"type": "hook_progress"})
    return session.result("c1", parent=call).answer(text="Done.").turn("two")


def hooks_beside_the_response() -> Session:
    session = Session().turn("one")
    response = session.last
    session.system("stop_hook_summary").system("turn_duration")
    return session.prompt("two", parent=response).answer(text="Yes.")


def prompt_on_an_older_line() -> Session:
    """The next prompt follows a line that is not the last, but no other prompt follows it."""
    session = Session().prompt("one").answer(calls=[use("c1"), use("c2")])
    first, second = (record["uuid"] for record in session.records[-2:])
    session.result("c1", parent=first)
    there = session.last
    return session.result("c2", parent=second).answer(text="Done.").prompt("two", parent=there)


FALSE = {
    "parallel calls": parallel(),
    "progress": progress(),
    "hooks beside the response": hooks_beside_the_response(),
    "a prompt on an older line": prompt_on_an_older_line(),
}


def in_a_row(messages: list[str]) -> dict[str, str]:
    return dict(zip(messages, ["", *messages], strict=False))


@each_row("session", FALSE.values(), ids=FALSE)
def test_other_siblings_are_not_branches(session: Session) -> None:
    reading = read(session)
    assert reading.parents == in_a_row(list(reading.parents))


def changed(session: Session, number: int, **fields: JsonObject | str | None) -> Session:
    session.records[number].update(fields)
    return session


BROKEN = {
    "a missing parent": changed(Session().turn("one").turn("two"), 2, parentUuid="gone"),
    "no parents": Session().turn("one", "a").turn("two"),
    "a line that is its own parent": changed(Session().turn("one").turn("two"), 2, parentUuid="u-3"),
    "two lines that are each other's parents": changed(
        changed(Session().turn("one").turn("two"), 2, parentUuid="u-4"), 3, parentUuid="u-3"
    ),
    "a parent on a later line": changed(Session().turn("one").turn("two"), 0, parentUuid="u-4"),
    "a parent that is not text": changed(Session().turn("one").turn("two"), 2, parentUuid={"a": "b"}),
}


@each_row("session", BROKEN.values(), ids=BROKEN)
def test_without_parents_the_order_of_the_file_is_used(session: Session) -> None:
    if session is BROKEN["no parents"]:
        for record in session.records:
            record["parentUuid"] = f"gone-{record['uuid']}"
    reading = read(session)
    assert reading.parents == {"u-1": "", "msg-u-1": "u-1", "u-3": "msg-u-1", "msg-u-2": "u-3"}


def test_a_repeated_line_is_shown_once_and_kept_twice() -> None:
    session = Session().work("one", "c1").turn("two")
    whole = read(session)
    session.records += session.records
    reading = read(session)
    assert reading.parents == whole.parents
    assert [one.usage for one in reading.ledger] == [one.usage for one in whole.ledger]
    assert {note.name for note in reading.notes} == {"claude-code-again"}
    assert len(reading.notes) == len(session.records) // 2


def test_a_prompt_with_the_id_of_a_notice_gets_another() -> None:
    session = Session().turn("one").system("local_command", content="x", uuid="same")
    session.prompt("two", uuid="same").answer(text="Yes.")
    reading = read(session)
    notice, prompt, response = list(reading.parents)[2:]
    assert notice == "same"
    assert prompt != "same"
    assert reading.parents == in_a_row(["u-1", "msg-u-1", notice, prompt, response])
    assert reading.by_id[prompt].content.parts[0].text == "two"  # type: ignore[union-attr] # it is words


def test_a_rewind_is_found_however_far_it_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "MAX_LINES", 20)
    session = Session().turn("first")
    there = session.last
    for number in range(50):  # more lines than are remembered by their uuid
        session.turn(f"{number}")
    session.prompt("otherwise", parent=there)
    assert read(session).parents[session.last or ""] == "msg-u-1"


def test_ids_are_the_same_each_time_and_in_a_longer_file() -> None:
    short = read(two_processes())
    longer = two_processes().turn("more")
    assert list(read(two_processes()).by_id) == list(short.by_id)
    assert list(read(longer).by_id)[: len(short.by_id)] == list(short.by_id)
    assert {message.thread_id for message in short.messages} == {SESSION}
