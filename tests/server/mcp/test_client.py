"""The official client with the server in its own process. The client checks results against their schemas."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import TextContent, TextResourceContents
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from .conftest import LONG, OUTPUT, SECRET, TOKEN, Server

NEWEST = {"auto": LATEST_MODERN_VERSION, "legacy": LATEST_HANDSHAKE_VERSION}

CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("search_sessions", {"query": "harbour", "limit": 3}, "Question 999 about the **harbour**"),
    ("search_sessions", {"query": "picnic", "role": "user"}, "demo-picnic-2"),
    ("search_sessions", {"query": "qqqq"}, "nothing found"),
    ("list_sessions", {"agent": "claude-code"}, "Since Sunday the lamp"),
    ("list_sessions", {"since": "2026-03-09", "until": "2026-03-11"}, "demo-survey"),
    ("read_session", {"session": "demo-picnic"}, "Can we have the picnic on the breakwater"),
    ("read_session", {"session": "demo-keeper", "full": True}, "Easter"),
    ("read_session", {"session": "7c1f", "full": True, "max_chars": 200_000}, "[sub-agent, "),
    ("read_session", {"session": LONG, "last": 2}, "#2000 assistant"),
    ("read_tool_output", {"session": LONG, "call": "c7"}, "line 0 of the log"),
    ("tool_statistics", {"project": "/srv/long"}, "Bash: calls 1000"),
    ("usage_statistics", {"by": ["model"]}, "claude-sonnet-4-5"),
    ("usage_statistics", {"by": ["day", "model"], "agent": "claude-code"}, "2026-03-30"),
    ("usage_statistics", {"by": ["total"]}, "in all"),
)


def text_of(result: Any) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("mode", NEWEST)
async def test_tools_resources_and_prompts_without_writing(
    cold_server: StdioServerParameters, server: Server, store_path: Path, mode: str
) -> None:
    with closing(sqlite3.connect(store_path)) as database:
        before = database.execute("PRAGMA data_version").fetchone()
        async with Client(cold_server if mode == "auto" else server(), mode=mode) as client:
            assert client.protocol_version == NEWEST[mode]
            assert "untrusted" in (client.instructions or "")
            await every_tool(client)
            await every_resource(client)
            await the_prompt(client)
            await errors(client)
        # The number changes when another connection writes.
        assert database.execute("PRAGMA data_version").fetchone() == before


async def every_tool(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {name for name, _, _ in CALLS}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
    results = await asyncio.gather(*(client.call_tool(name, arguments) for name, arguments, _ in CALLS))
    for result, (name, arguments, expected) in zip(results, CALLS, strict=True):
        assert not result.is_error, (name, arguments, text_of(result))
        assert expected in text_of(result), (name, arguments)


async def every_resource(client: Client) -> None:
    listed = (await client.list_resources()).resources
    assert listed[0].uri == f"partita://thread/{LONG}" or listed[0].uri == f"partita://thread/{SECRET}"
    (template,) = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == "partita://thread/{id}"
    (content,) = (await client.read_resource("partita://thread/demo-picnic")).contents
    assert isinstance(content, TextResourceContents)
    assert "\n# A picnic that must not get wet\n" in content.text
    with pytest.raises(MCPError, match="no session 'nope'"):
        await client.read_resource("partita://thread/nope")


async def the_prompt(client: Client) -> None:
    (prompt,) = (await client.list_prompts()).prompts
    (message,) = (await client.get_prompt(prompt.name, {"about": "the lamp"})).messages
    assert isinstance(message.content, TextContent)
    assert message.content.text.startswith("What did we do about this in past sessions: the lamp\n")


async def errors(client: Client) -> None:
    unknown = await client.call_tool("read_session", {"session": "nope"})
    assert unknown.is_error
    assert "list_sessions and search_sessions return the ids" in text_of(unknown)
    misspelled = await client.call_tool("read_session", {"sesion": "last"})
    assert misspelled.is_error
    assert "read_session takes session (required), from" in text_of(misspelled)
    with pytest.raises(MCPError, match="no tool 'write_session'"):
        await client.call_tool("write_session", {})


async def test_a_client_that_timed_out_can_send_further_requests(server: Server) -> None:
    async with Client(server()) as client:
        for _ in range(3):
            with pytest.raises(MCPError, match=r"(?i)timed out"):
                await client.call_tool("search_sessions", {"query": "harbour"}, read_timeout_seconds=0.0001)
        result = await client.call_tool(
            "read_tool_output", {"session": LONG, "call": "c7", "max_chars": 1000}
        )
        assert result.structured_content is not None
        assert result.structured_content["total_chars"] == len(OUTPUT)


async def test_options_limit_what_a_client_sees(server: Server) -> None:
    narrow = server("--project", "/srv/secret", "--agent", "codex")
    async with Client(narrow) as one, Client(server("--no-redact")) as other:
        mine, all_ = await asyncio.gather(one.call_tool("list_sessions"), other.call_tool("list_sessions"))
        assert mine.structured_content is not None
        assert all_.structured_content is not None
        assert [session["id"] for session in mine.structured_content["sessions"]] == [SECRET]
        assert len(all_.structured_content["sessions"]) > 5
        read = {"session": SECRET}
        redacted, plain = await asyncio.gather(
            one.call_tool("read_session", read), other.call_tool("read_session", read)
        )
        assert TOKEN not in text_of(redacted)
        assert TOKEN in text_of(plain)
