"""The results of tools: they are complete, limited in size, and without hidden messages or secrets."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult, Resource, TextContent, TextResourceContents

from partita.errors import PartitaError
from partita.server.mcp.archive import Archive, Scope
from partita.server.mcp.resources import MAX_CHARS
from partita.server.mcp.server import TOOLS, create_server
from partita.server.mcp.tool import size_of
from partita.store.connection import open_store
from partita.store.values import PartFilter
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import JsonOutput, TextOutput, ToolOutput
from tests.tables import each_row

from .conftest import LONG, OUTPUT, SECRET, TOKEN

OVERHEAD = 1500
"""How many characters a result may have besides the requested text."""


@pytest.fixture
async def archive(store_path: Path) -> AsyncIterator[Archive]:
    archive = Archive(str(store_path))
    yield archive
    await archive.close()


async def call(archive: Archive, tool: str, arguments: JsonObject) -> CallToolResult:
    async with Client(create_server(archive)) as client:
        return await client.call_tool(tool, arguments)


async def ask(archive: Archive, tool: str, **arguments: object) -> JsonObject:
    """The data of the result of a call."""
    result = await call(archive, tool, arguments)
    assert not result.is_error, result
    data: JsonObject = result.structured_content
    return data


async def error_of(archive: Archive, tool: str, **arguments: object) -> str:
    result = await call(archive, tool, arguments)
    assert result.is_error, result
    assert result.structured_content is None
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def listed_resources(archive: Archive) -> list[Resource]:
    async with Client(create_server(archive)) as client:
        return (await client.list_resources()).resources


async def read_resource(archive: Archive, uri: str) -> str:
    async with Client(create_server(archive)) as client:
        (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.uri == uri
    return contents.text


async def test_read_session_pages_through_a_long_session(archive: Archive) -> None:
    numbers: list[int] = []
    start: int | None = 1
    while start is not None:
        response = await ask(archive, "read_session", session=LONG, max_chars=50_000, **{"from": start})
        assert size_of(response) < 50_000 + OVERHEAD
        numbers += [one["number"] for one in response["messages"]]
        assert ("earlier_before" in response) is (start > 1)
        start = response.get("next_from")
    assert numbers == list(range(1, 2001))


async def test_read_session_pages_backwards(archive: Archive) -> None:
    response = await ask(archive, "read_session", session=LONG, last=4)
    assert [one["number"] for one in response["messages"]] == [1997, 1998, 1999, 2000]
    assert "next_from" not in response
    before = await ask(archive, "read_session", session=LONG, before=response["earlier_before"], last=3)
    assert [one["number"] for one in before["messages"]] == [1994, 1995, 1996]
    assert before["note"] == "earlier messages: before 1994; later messages: from 1997"
    filled = await ask(archive, "read_session", session=LONG, before=1000, max_chars=2000)
    assert filled["messages"][-1]["number"] == 999


async def test_read_session_around_a_message_includes_its_neighbours(archive: Archive) -> None:
    response = await ask(archive, "read_session", session=LONG, around="a500", max_chars=1000)
    numbers = [one["number"] for one in response["messages"]]
    assert 1002 in numbers
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert size_of(response) < 1000 + OVERHEAD
    assert "return the ids of messages" in await error_of(archive, "read_session", session=LONG, around="x")


async def test_a_message_larger_than_the_limit_is_cut(archive: Archive) -> None:
    response = await ask(archive, "read_session", session=LONG, around="a7", full=True, max_chars=1000)
    (message,) = response["messages"]
    assert message["shortened"]
    assert message["text"].endswith("more characters: a larger max_chars shows more]")
    assert size_of(response) < 1000 + OVERHEAD
    whole = await ask(archive, "read_session", session=LONG, around="a7", full=True, max_chars=200_000)
    assert OUTPUT.rstrip() in next(one["text"] for one in whole["messages"] if one["id"] == "a7")


async def test_a_shortened_output_can_be_read_completely(archive: Archive) -> None:
    short = await ask(archive, "read_session", session=LONG, around="a7")
    message = next(one for one in short["messages"] if one["id"] == "a7")
    assert message["shortened"]
    hint = f'of {len(OUTPUT):,} characters; read_tool_output with call "c7" returns all of it'
    assert hint in message["text"]
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = await ask(
            archive, "read_tool_output", session=LONG, call="c7", offset=offset, max_chars=9_999
        )
        pieces.append(piece["text"])
        offset = piece.get("next_offset")
    assert "".join(pieces) == OUTPUT
    past = await ask(archive, "read_tool_output", session=LONG, call="c7", offset=10**7)
    assert (past["text"], past["note"]) == ("", f"the output has {len(OUTPUT):,} characters")
    assert "return" in await error_of(archive, "read_tool_output", session=LONG, call="c-no")


async def test_outputs_of_sub_agents_can_be_read(archive: Archive) -> None:
    store = await archive.store()
    inner = next(
        part
        for part in await store.messages.find_parts(
            PartFilter(thread_id=(await archive.find("7c1f")).id, types=["tool-call"])
        )
        if ".children." in part.path and part.tool_name == "Read"
    )
    response = await ask(archive, "read_tool_output", session="7c1f", call=inner.call_id)
    assert response["total_chars"] > 10


async def test_cursors_page_through_all_results_with_a_small_limit(archive: Archive) -> None:
    for tool, name, wanted in (
        ("search_sessions", "found", {"query": "harbour", "session": LONG, "limit": 50}),
        ("list_sessions", "sessions", {"limit": 5}),
    ):
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(6):
            response = await ask(archive, tool, **wanted, cursor=cursor, max_chars=1000)
            assert size_of(response) < 1000 + OVERHEAD
            seen += [one.get("message") or one["id"] for one in response[name]]
            cursor = response.get("next_cursor")
            if cursor is None:
                break
        whole = await ask(archive, tool, **(wanted | {"limit": len(seen)}))
        assert seen == [one.get("message") or one["id"] for one in whole[name]]


async def test_secrets_are_redacted_in_every_result(archive: Archive) -> None:
    for response in (
        await ask(archive, "read_session", session=SECRET),
        await ask(archive, "search_sessions", query="beacon"),
        await ask(archive, "search_sessions", query="word deploys"),
        await ask(archive, "list_sessions", project="/srv/secret"),
        await listed_resources(archive),
        await read_resource(archive, f"partita://thread/{SECRET}"),
    ):
        assert "[redacted: github token 1]" in str(response)
        # Neither the beginning nor the end of a secret is left where a passage is cut.
        assert TOKEN[:10] not in str(response)
        assert TOKEN[-10:] not in str(response)


@pytest.fixture
async def keys(tmp_path: Path) -> AsyncIterator[Archive]:
    """A thread whose outputs contain secrets in places that are hard to redact."""
    path = tmp_path / "store.db"
    outputs: dict[str, ToolOutput] = {
        "border": TextOutput("x" * 790 + f" {TOKEN} " + "y" * 100_000),
        "far": TextOutput("x " * 60_000 + f"lantern {TOKEN} buoy" + " y" * 60_000),
        "named": JsonOutput({"user": "kari", "password": "tide7", "note": "anchor"}),
    }
    async with open_store(path) as store:
        await store.threads.create("t")
        await store.messages.save(
            [
                AssistantMessage(
                    id=id_, content=[ToolCallPart(id_, "Bash", "output-available", {}, output=one)]
                )
                for id_, one in outputs.items()
            ],
            thread_id="t",
        )
    archive = Archive(str(path))
    yield archive
    await archive.close()


async def test_a_secret_at_a_cut_is_redacted_completely(keys: Archive) -> None:
    for offset, most in ((0, 1000), (800, 1000), (820, 1000), (0, 2000)):
        response = await ask(
            keys, "read_tool_output", session="t", call="border", offset=offset, max_chars=most
        )
        assert all(TOKEN[start : start + 8] not in response["text"] for start in range(len(TOKEN) - 7))
        assert ("[redacted: github token 1]" in response["text"]) is (offset == 0)
    read = await ask(keys, "read_session", session="t")
    assert "ghp_" not in str(read)
    assert "of 100,832 characters" in read["messages"][0]["text"]
    full = await ask(keys, "read_session", session="t", around="border", full=True, max_chars=1000)
    assert "ghp_" not in str(full)


async def test_a_secret_inside_a_long_found_output_is_redacted(keys: Archive) -> None:
    (found,) = (await ask(keys, "search_sessions", query="lantern buoy"))["found"]
    assert "**lantern** [redacted: github token 1] **buoy**" in found["passage"]


async def test_a_secret_known_only_by_its_member_name_is_redacted(keys: Archive) -> None:
    (found,) = (await ask(keys, "search_sessions", query="anchor"))["found"]
    output = await ask(keys, "read_tool_output", session="t", call="named")
    for text in (found["passage"], output["text"]):
        assert "tide7" not in text
        assert "[redacted: password 1]" in text


async def test_in_one_result_each_secret_has_its_own_mark(tmp_path: Path) -> None:
    other = TOKEN.replace("a1B2", "z9Y8")
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("t")
        texts = {0: TOKEN, 14: other, 28: TOKEN}
        messages = [UserMessage(id=f"m{number}", content=texts.get(number, "-")) for number in range(30)]
        await store.messages.save(messages, thread_id="t")
    archive = Archive(str(path))
    read = [one["text"] for one in (await ask(archive, "read_session", session="t"))["messages"]]
    marks = [f"[redacted: github token {number}]" for number in (1, 2, 1)]
    assert [read[number] for number in texts] == marks
    await archive.close()


async def test_redaction_can_be_turned_off(store_path: Path) -> None:
    archive = Archive(str(store_path), redact=False)
    assert TOKEN in str(await ask(archive, "read_session", session=SECRET))
    await archive.close()


async def test_hidden_messages_are_never_shown(archive: Archive) -> None:
    assert "hidden" not in str(await ask(archive, "read_session", session=SECRET))
    assert "hidden" not in str(await ask(archive, "search_sessions", query="beacon"))
    assert (await ask(archive, "search_sessions", query="hidden"))["found"] == []
    assert "hidden" not in await read_resource(archive, f"partita://thread/{SECRET}")


async def test_found_messages_are_grouped_by_session(archive: Archive) -> None:
    found = (await ask(archive, "search_sessions", query="harbour OR beacon", limit=50))["found"]
    sessions = [one["session"] for one in found]
    assert sessions == sorted(sessions, key=sessions.index)
    of_long = [one for one in found if one["session"] == LONG and one.get("message")]
    assert len(of_long) == 3 < of_long[0]["matches"]
    every = (await ask(archive, "search_sessions", query="harbour OR beacon", session=LONG, limit=50))[
        "found"
    ]
    assert len([one for one in every if one.get("message")]) == min(of_long[0]["matches"], 50)


async def test_the_query_takes_qualifiers(archive: Archive) -> None:
    found = (await ask(archive, "search_sessions", query="harbour project:/nowhere"))["found"]
    assert found == []
    excluded = (await ask(archive, "search_sessions", query="harbour -project:/nowhere"))["found"]
    assert excluded


async def test_a_found_message_of_another_branch_can_be_read(archive: Archive) -> None:
    (found,) = (await ask(archive, "search_sessions", query="another way", project="/srv/secret"))["found"]
    response = await ask(archive, "read_session", session=SECRET, around=found["message"])
    assert [one["id"] for one in response["messages"]] == ["s1", "s2", "s4"]


@pytest.fixture
async def narrow(store_path: Path) -> AsyncIterator[Archive]:
    archive = Archive(str(store_path), scope=Scope(project="/srv/secret"))
    yield archive
    await archive.close()


async def test_sessions_outside_the_scope_cannot_be_read(narrow: Archive) -> None:
    assert [one["id"] for one in (await ask(narrow, "list_sessions"))["sessions"]] == [SECRET]
    assert (await ask(narrow, "read_session", session="last"))["session"] == SECRET
    assert (await ask(narrow, "search_sessions", query="harbour"))["found"] == []
    assert (await ask(narrow, "tool_statistics"))["tools"] == []
    assert (await ask(narrow, "usage_statistics", by=["project"]))["rows"][0]["key"] == {
        "project": "/srv/secret"
    }
    for session in (LONG, "long", "demo-picnic"):
        assert "no session" in await error_of(narrow, "read_session", session=session)
    assert "no session" in await error_of(narrow, "read_tool_output", session=LONG, call="c7")
    other = await error_of(narrow, "list_sessions", project="/srv/long")
    assert "only the project '/srv/secret' can be seen here" in other


async def test_a_dot_means_the_project_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("here", project=str(tmp_path))
        await store.threads.create("there", project="/elsewhere")
    monkeypatch.chdir(tmp_path)
    archive = Archive(str(path))
    found = await ask(archive, "list_sessions", project=".", empty=True)
    assert [one["id"] for one in found["sessions"]] == ["here"]
    await archive.close()


async def test_an_owner_sees_only_their_sessions(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        for owner in ("ada", "bob"):
            await store.threads.create("both", resource_id=owner, title=owner)
            await store.threads.create(f"of-{owner}", resource_id=owner)
    everyone, ada = Archive(str(path)), Archive(str(path), resource="ada")
    assert "--resource" in await error_of(everyone, "read_session", session="both")
    assert (await ask(ada, "read_session", session="both"))["title"] == "ada"
    assert "no session" in await error_of(ada, "read_session", session="of-bob")
    await everyone.close()
    await ada.close()


INVALID: dict[str, tuple[str, JsonObject, str]] = {
    "an unknown argument": ("list_sessions", {"agnet": "x"}, "list_sessions takes agent, project"),
    "a string instead of a number": ("list_sessions", {"limit": "5"}, "$.limit"),
    "a limit that is too large": ("list_sessions", {"limit": 1000}, "<= 100"),
    "a size that is too large": ("list_sessions", {"max_chars": 10**9}, "<= 200000"),
    "an invalid time": ("list_sessions", {"since": "soon"}, "3h or 7d"),
    "a missing argument": ("search_sessions", {}, "query (required)"),
    "an unknown role": ("search_sessions", {"query": "a", "role": "robot"}, "$.role"),
    "an invalid cursor": ("search_sessions", {"query": "a", "cursor": "?"}, "cursor"),
    "arguments that exclude each other": (
        "read_session",
        {"session": "last", "last": 1, "around": "x"},
        "exclude each other",
    ),
    "an ambiguous id": ("read_session", {"session": "demo"}, "use a longer prefix: 'demo-"),
    "the same key twice": ("usage_statistics", {"by": ["day", "day"]}, "two different ones"),
}


@each_row(("tool", "arguments", "hint"), INVALID.values(), ids=INVALID)
async def test_invalid_arguments_are_results_with_a_hint(
    archive: Archive, tool: str, arguments: JsonObject, hint: str
) -> None:
    assert hint in await error_of(archive, tool, **arguments)


async def test_an_archive_is_found_once_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.db"
    archive = Archive(str(path))
    for tool, arguments in (("list_sessions", {}), ("search_sessions", {"query": "a"})):
        assert "`partita import` imports" in await error_of(archive, tool, **arguments)
    assert not path.parent.exists()  # reading creates nothing
    async with open_store(path) as store:
        await store.threads.create("t", title="The first")
    assert (await ask(archive, "list_sessions", empty=True))["sessions"][0]["title"] == "The first"
    await archive.close()


def write_nothing(path: Path) -> None:
    path.write_bytes(b"")


def write_text(path: Path) -> None:
    path.write_text("These are notes, not a database.")


async def test_a_file_that_is_not_an_archive_is_not_changed(tmp_path: Path) -> None:
    for write, message in ((write_nothing, "no archive yet"), (write_text, "not a")):
        path = tmp_path / write.__name__
        write(path)
        before = path.read_bytes()
        archive = Archive(str(path))
        assert message in await error_of(archive, "list_sessions")
        assert path.read_bytes() == before
        await archive.close()


async def test_an_archive_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path):
        pass
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    archive = Archive(str(path))
    assert "a newer Partita wrote it" in await error_of(archive, "list_sessions")
    await archive.close()


async def test_a_locked_archive_is_reported_and_read_once_unlocked(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("t")
    archive = Archive(str(path), patience=0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        assert "locked" in await error_of(archive, "list_sessions")
    assert len((await ask(archive, "list_sessions", empty=True))["sessions"]) == 1
    await archive.close()


async def test_messages_added_while_the_server_runs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("t")
        archive = Archive(str(path))
        assert (await ask(archive, "read_session", session="t"))[
            "note"
        ] == "no messages there; the session has 0"
        await store.messages.save([UserMessage(id="m", content="Now")], thread_id="t")
        assert (await ask(archive, "read_session", session="t"))["messages"][0]["text"] == "Now"
        await archive.close()


async def test_days_begin_in_the_time_zone_of_the_archive(tmp_path: Path) -> None:
    from zoneinfo import ZoneInfo

    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("t")
        late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
        call = ToolCallPart("c", "Bash", "output-available", {}, output=TextOutput("x"))
        await store.messages.save(
            [
                UserMessage(id="m", content="Late", created_at=late),
                AssistantMessage(id="n", content=[call], created_at=late + timedelta(minutes=1)),
            ],
            thread_id="t",
        )
    for zone, day in ((ZoneInfo("UTC"), "2026-03-01"), (ZoneInfo("Europe/Berlin"), "2026-03-02")):
        archive = Archive(str(path), zone=zone)
        (row,) = (await ask(archive, "usage_statistics"))["rows"]
        assert row["key"] == {"day": day}
        await archive.close()


async def test_a_long_resource_says_where_it_is_cut(archive: Archive) -> None:
    text = await read_resource(archive, f"partita://thread/{LONG}")
    assert MAX_CHARS / 2 < len(text) < MAX_CHARS + 600
    assert text.endswith("read_session continues from there.*\n")


async def test_every_session_id_has_a_resource_uri(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("a b/c%20?é", title="Odd")
    archive = Archive(str(path))
    (listed,) = await listed_resources(archive)
    assert listed.uri == "partita://thread/a%20b%2Fc%2520%3F%C3%A9"
    assert "\n# Odd\n" in await read_resource(archive, listed.uri)
    await archive.close()


def test_every_argument_has_a_description() -> None:
    for tool in TOOLS.values():
        schema = tool.input_schema
        assert schema["type"] == "object"
        undescribed = [
            name
            for name, property_ in schema["properties"].items()
            if "description" not in property_ and name != "limit"
        ]
        assert undescribed == []


async def test_an_invalid_store_url_is_an_error_result(tmp_path: Path) -> None:
    archive = Archive("ftp://nowhere")
    with pytest.raises(PartitaError, match="no store has URLs with ftp://"):
        await archive.store()
    assert "no store has URLs with" in await error_of(archive, "list_sessions")
    await archive.close()


async def test_usage_is_grouped_by_one_name(archive: Archive) -> None:
    listed = await ask(archive, "usage_statistics", by=["model"])
    assert await ask(archive, "usage_statistics", by="model") == listed
    assert all("model" in row["key"] for row in listed["rows"])
