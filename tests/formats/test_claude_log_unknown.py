"""Unknown records of a session file are kept, counted, and reported with their lines."""

from partita.formats.log.sink import MAX_KINDS, OTHER_KINDS
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from tests.logs.claude_session import Session, lines_of, read, text
from tests.tables import each_row

KEPT = "kept-for-all-times"


def with_fields(session: Session, number: int, **fields: Json) -> Session:
    session.records[number].update(fields)
    return session


UNKNOWN: dict[str, tuple[Session, str]] = {
    "a type": (Session().prompt("a").add("telepathy", thought=KEPT), "unknown record type 'telepathy'"),
    "no type": (
        with_fields(Session().prompt("a").add("x", thought=KEPT), 1, type=None),
        "unknown record type None",
    ),
    "a type that is not text": (
        with_fields(Session().prompt("a").add("x"), 1, type=[KEPT]),
        f"unknown record type ['{KEPT}']",
    ),
    "a subtype": (
        Session().prompt("a").system("levitation", content=KEPT),
        "unknown system record 'levitation'",
    ),
    "an attachment": (Session().prompt("a").attachment("scent", of=KEPT), "unknown attachment 'scent'"),
    "no attachment": (Session().prompt("a").add("attachment", note=KEPT), "unknown attachment None"),
    "a progress": (Session().prompt("a").progress("c", "growth", by=KEPT), "unknown progress 'growth'"),
    "a block": (
        Session().prompt("a").piece("m", {"type": "hologram", "of": KEPT}),
        "unknown content block 'hologram'",
    ),
    "a block that is not an object": (
        Session().prompt("a").piece("m", KEPT),
        "a content block that is not an object",
    ),
    "a call without a name": (
        Session().prompt("a").piece("m", {"type": "tool_use", "id": KEPT}),
        "a call without an id or a name",
    ),
    "a field of a response": (
        with_fields(Session().prompt("a").piece("m", text("b")), 1, aura=KEPT),
        "unknown field 'aura' of assistant",
    ),
    "a field of a prompt": (
        with_fields(Session().prompt("a").prompt("b"), 1, aura=KEPT),
        "unknown field 'aura' of user",
    ),
    "a response without a message": (
        Session().prompt("a").add("assistant", note=KEPT),
        "a response without a message",
    ),
    "a user record without a message": (
        Session().prompt("a").add("user", note=KEPT),
        "a user record without a message",
    ),
    "a content that is neither text nor blocks": (
        Session().prompt("a").piece("m", message={"content": {"odd": KEPT}}),
        "the content of a response is neither text nor blocks",
    ),
    "a time that cannot be read": (
        with_fields(Session().prompt("a").prompt(KEPT), 1, timestamp="yesterday"),
        "a time that cannot be read",
    ),
    "a time without a zone": (
        with_fields(Session().prompt("a").prompt(KEPT), 1, timestamp="2026-04-01T08:00:00"),
        "a time that cannot be read",
    ),
}


@each_row(("session", "what"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_records_are_kept_and_reported_and_the_rest_is_read(session: Session, what: str) -> None:
    reading = read(session.turn("Go on"))
    assert reading.unknown_records == {what: [2]}
    assert KEPT.encode() in dumps([to_json(message) for message in reading.messages])
    assert reading.prompts[0].id == "u-1"
    assert reading.prompts[-1].id == "u-3"


LINES: dict[str, tuple[bytes, dict[str, list[int]]]] = {
    "a number": (b"7", {"a line that is not an object": [2]}),
    "a list": (b"[1,2]", {"a line that is not an object": [2]}),
    "null": (b"null", {"a line that is not an object": [2]}),
    "no JSON": (b"hello", {"not JSON": [2]}),
    "not in UTF-8": (b'{"type":"mode","mode":"\xff"}', {"not UTF-8; invalid bytes were replaced": [2]}),
}


@each_row(("line", "unknown_records"), LINES.values(), ids=LINES)
def test_a_line_that_is_not_a_record_is_reported(line: bytes, unknown_records: dict[str, list[int]]) -> None:
    session = Session().turn("a")
    data = lines_of(session.records[:1]) + line + b"\n" + lines_of(session.records[1:])
    reading = read(data)
    assert reading.unknown_records == unknown_records
    assert list(reading.parents) == ["u-1", "msg-u-1"]


def test_many_records_of_a_kind_are_reported_with_the_first_positions() -> None:
    session = Session()
    for _ in range(50):
        session.add("telepathy")
    (finding,) = read(session).log.unknown_records
    assert finding.times == 50
    assert [place.line for place in finding.positions] == list(range(1, 21))
    assert str(finding) == "unknown record type 'telepathy' (50 times, line 1, 2, 3, 4, 5, …)"


def test_the_number_of_kinds_is_limited() -> None:
    records: list[JsonObject] = [{"type": f"kind {number}"} for number in range(MAX_KINDS + 500)]
    findings = read(lines_of(records)).log.unknown_records
    assert len(findings) == MAX_KINDS + 1
    assert (findings[-1].what, findings[-1].times) == (OTHER_KINDS, 500)
