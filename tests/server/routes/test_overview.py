"""The overview of a thread over HTTP."""

import httpx

from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput
from partita.types.threads import Thread
from tests.store.examples import assistant_message, failed_call_message, user_message
from tests.tables import each_row

OVERVIEW = "/api/threads/t1/overview"


async def test_the_overview_of_a_session(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t1", agent="claude-code", project="/app", metadata={"sessionId": "s 1"})
    await store.messages.save([user_message("m1"), failed_call_message("a1")], thread_id="t1")
    found = (await client.get(OVERVIEW)).json()
    assert [(one["messageId"], one["failed"], one["cost"]) for one in found["turns"]] == [("m1", 1, None)]
    assert found["calls"][0]["state"] == "failed"
    assert found["resume"] == {"command": "claude --resume 's 1'", "directory": "/app"}


async def test_the_overview_of_a_branch(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t1")
    messages = [user_message("m1"), assistant_message("a1"), assistant_message("a2", parent_id="m1")]
    await store.messages.save(messages, thread_id="t1")
    for query, answer in (("", "a2"), ("?branch=a1", "a1")):
        found = (await client.get(f"{OVERVIEW}{query}")).json()
        assert found["turns"][0]["answerId"] == answer
        assert found["resume"] is None


@each_row("path", ["/api/threads/none/overview", f"{OVERVIEW}?branch=none", "/api/threads/none/diff"])
async def test_what_does_not_exist_is_not_found(client: httpx.AsyncClient, store: Store, path: str) -> None:
    await store.threads.save(Thread(id="t1"))
    reply = await client.get(path)
    assert reply.status_code == 404
    assert "none" in reply.json()["detail"]


UNIFIED = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n one\n-{old}\n+{new}\n"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-{old}\n+{new}\n*** End Patch"


def structured(old: str, new: str) -> JsonObject:
    lines = [" one", f"-{old}", f"+{new}"]
    return {"filePath": "/app/a.py", "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": lines}]}


def edits(name: str, old: str, new: str) -> ToolCallPart:
    """The edit of a line in the form of an agent."""
    metadata: JsonObject
    given: JsonObject
    match name:
        case "Edit":
            metadata = {"claude-code": {"toolUseResult": structured(old, new)}}
            given = {"file_path": "/app/a.py", "old_string": old, "new_string": new}
        case "apply_patch":
            metadata, given = {}, {"input": PATCH.format(old=old, new=new)}
        case "replace":
            metadata = {"gemini-cli": {"resultDisplay": {"fileDiff": UNIFIED.format(old=old, new=new)}}}
            given = {"file_path": "/app/a.py", "old_string": old, "new_string": new}
        case _:
            metadata = {"opencode": {"metadata": {"diff": UNIFIED.format(old=old, new=new)}}}
            given = {"filePath": "/app/a.py", "oldString": old, "newString": new}
    return ToolCallPart(
        f"call-{new}",
        name,
        input=given,
        state="output-available",
        output=TextOutput("done"),
        tool_metadata=metadata or None,
    )


@each_row("name, start", [("Edit", 1), ("apply_patch", None), ("replace", 1), ("edit", 1)])
async def test_all_edits_of_a_file_are_one_diff(
    client: httpx.AsyncClient, store: Store, name: str, start: int | None
) -> None:
    thread = f"/api/threads/{name}"
    await store.threads.create(name, project="/app")
    calls = [
        AssistantMessage(id=f"{name}-{new}", content=AssistantContent(parts=(edits(name, old, new),)))
        for old, new in (("two", "2"), ("2", "zwei"))
    ]
    await store.messages.save([user_message(f"{name}-u"), *calls], thread_id=name)
    (diff,) = (await client.get(f"{thread}/diff")).json()["files"]
    places = [{"messageId": f"{name}-{new}", "part": "0"} for new in ("2", "zwei")]
    assert (diff["path"], diff["added"], diff["removed"], diff["combined"]) == ("a.py", 1, 1, True)
    assert diff["hunks"] == [
        {"lines": [" one", "-two", "+zwei"], "oldStart": start, "newStart": start, "edits": places}
    ]
    (file,) = (await client.get(f"{thread}/overview")).json()["files"]
    assert [file[key] for key in ("path", "added", "removed", "edits")] == ["a.py", 1, 1, places]


async def test_the_diffs_of_one_file_and_of_its_first_lines(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t1", project="/app")
    written = [
        ToolCallPart(
            f"c-{path}",
            "Write",
            input={"file_path": f"/app/{path}", "content": "1\n2\n3\n"},
            state="output-available",
            output=TextOutput("done"),
        )
        for path in ("a.py", "b.py")
    ]
    message = AssistantMessage(id="a1", content=AssistantContent(parts=tuple(written)))
    await store.messages.save([user_message("m1"), message], thread_id="t1")
    found = (await client.get("/api/threads/t1/diff?path=b.py&lines=2")).json()["files"]
    assert [(one["path"], one["added"], one["lineCount"]) for one in found] == [("b.py", 3, 3)]
    assert found[0]["hunks"][0]["lines"] == ["+1", "+2"]
