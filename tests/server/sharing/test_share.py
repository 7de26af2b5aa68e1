"""Shared files of a thread: complete and readable, without secrets and without left-out content."""

import base64
import pickle
import random
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita.formats.call_decoder import CALL, CALL_END
from partita.formats.registry import all_formats, get_format
from partita.runtime.model_calls import ModelRequest, request_marker
from partita.runtime.recordings.recording import parse_recording
from partita.server.page.files import web_files
from partita.server.sharing import html as html_module
from partita.server.sharing.request import ShareFormat, ShareRequest
from partita.server.sharing.shared_file import shared_file
from partita.server.sharing.thread_content import read_content
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart, TextDelta, TextEnd, TextStart
from partita.types.codec import MESSAGES, encode, read_chunk, to_json
from partita.types.json import JsonObject, dumps, is_object, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import FilePart, JsonOutput, ReasoningPart, TextOutput, TextPart
from partita.types.threads import Thread
from tests.converting import read_lines
from tests.tables import each_row

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "correct7horse"
HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>"
PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG" + b"x" * 400).decode()

SCRIPT = 'console.log("</script>", `</SCRIPT>`, /^<!--\\p{L}+-->$/u.test("<" + "!--note-->"));'
"""A script with markup in strings, templates and regular expressions with the flag u."""

MESSAGES_OF_THREAD: tuple[Message, ...] = (
    UserMessage(
        id="m1", content=[TextPart(f"Use {TOKEN}. {HOSTILE}"), FilePart(url=PICTURE, media_type="image/png")]
    ),
    AssistantMessage(
        id="m2",
        content=[
            ReasoningPart("The password is secret."),
            ToolCallPart(
                id="c1",
                name="Bash",
                state="output-available",
                input={"command": f"PASSWORD={PASSWORD} deploy"},
                output=TextOutput(value=f"```\nsaid {PASSWORD}\n```"),
            ),
            TextPart("Deployed."),
        ],
    ),
)


@pytest.fixture
async def thread(store: Store) -> Thread:
    thread = await store.threads.create(id="t1", title=f"Deploy with {TOKEN}")
    await store.messages.save(MESSAGES_OF_THREAD, thread_id="t1")
    return thread


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The built reader of shared files."""
    (tmp_path / "reader").mkdir()
    (tmp_path / "reader" / "reader.js").write_text(SCRIPT)
    (tmp_path / "reader" / "reader.css").write_text("body::after { content: '</STYLE>' }")
    (tmp_path / "index.html").write_text("<!doctype html>")
    monkeypatch.setenv("PARTITA_PAGE", str(tmp_path))
    web_files.cache_clear()
    yield
    web_files.cache_clear()


async def share(client: httpx.AsyncClient, status: int = 200, **body: Any) -> httpx.Response:
    """The response. `target` is the parameter `as`, which is a keyword in Python."""
    body_json = {"as" if name == "target" else name: value for name, value in body.items()}
    response = await client.post("/api/threads/t1/share", json=body_json)
    assert response.status_code == status, response.text
    return response


async def preview(client: httpx.AsyncClient, **body: Any) -> Any:
    response = await client.post("/api/threads/t1/share/preview", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def embedded(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="partita">(.*?)</script>', page, re.DOTALL)
    assert found
    return loads(found[1])


@pytest.mark.usefixtures("thread", "reader")
@each_row("format", ["html", "markdown", "jsonl", "fixture"])
async def test_a_file_has_a_name_and_no_secrets(client: httpx.AsyncClient, format: str) -> None:
    response = await share(client, format=format)
    assert TOKEN not in response.text
    assert PASSWORD not in response.text
    assert "[redacted: github token 1]" in response.text
    assert "Deployed." in response.text
    assert response.headers["content-disposition"].startswith('attachment; filename="deploy-with-redacted')
    assert int(response.headers["content-length"]) == len(response.content)
    result = await preview(client, format=format)
    assert result["bytes"] == len(response.content)
    assert {one["mark"] for one in result["findings"]} == {
        "[redacted: github token 1]",
        "[redacted: password 1]",
    }


@pytest.mark.usefixtures("thread", "reader")
async def test_an_html_file_has_all_messages_and_runs_only_its_reader(client: httpx.AsyncClient) -> None:
    page = (await share(client, format="html")).text
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert page.count("<!--") == 0
    assert page.lower().count("</style") == 1
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0]
    printed = subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout
    assert printed == "</script> </SCRIPT> true\n"
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert f"sha256-{digest}" in policy[1]
    assert "default-src &#x27;none&#x27;" in policy[1]
    data = embedded(page)
    text = data["messages"][0]["content"]["parts"][0]["text"]
    assert text.endswith(HOSTILE)
    assert data["messages"][0]["content"]["parts"][1]["url"] == PICTURE
    assert MESSAGES.read(data["messages"])[1].id == "m2"
    (turn,) = data["overview"]["turns"]
    assert (turn["messageId"], turn["answerId"], turn["calls"]) == ("m1", "m2", 1)
    assert data["overview"]["commands"] == 1


@pytest.mark.usefixtures("thread", "reader")
async def test_an_output_can_have_a_type_that_is_not_a_string(
    client: httpx.AsyncClient, store: Store
) -> None:
    output = JsonOutput({"type": {"of": "tower"}, "url": "data:,x"})
    call = ToolCallPart("c9", "look", "output-available", {}, output=output)
    await store.messages.save([AssistantMessage(id="m9", content=[call])], thread_id="t1")
    assert embedded((await share(client, format="html")).text)["messages"][-1]["id"] == "m9"


@pytest.mark.usefixtures("thread", "reader")
async def test_a_file_that_is_too_large_is_replaced_by_its_name(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_module, "MAX_FILE_BYTES", 100)
    page = (await share(client, format="html")).text
    assert PICTURE not in page
    assert "[left out: image/png, which is too large for this page]" in page
    assert (await preview(client, format="html"))["notices"]


@pytest.mark.usefixtures("thread")
async def test_without_a_built_reader_html_is_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PARTITA_PAGE", str(tmp_path / "nowhere"))
    web_files.cache_clear()
    assert "make web" in (await share(client, 501, format="html")).json()["hint"]
    web_files.cache_clear()


@pytest.mark.usefixtures("thread")
async def test_markdown_is_readable_and_its_code_blocks_are_complete(client: httpx.AsyncClient) -> None:
    text = (await share(client, format="markdown")).text
    assert "## User" in text
    assert (
        "````console\n$ PASSWORD=[redacted: password 1] deploy\n```\nsaid [redacted: password 1]\n```\n````"
        in text
    )
    assert "<summary>Reasoning</summary>\n\nThe password is secret.\n\n</details>" in text
    assert "*File: image/png (not included)*" in text


@pytest.mark.usefixtures("thread")
@each_row("target", [name for name, format_ in all_formats().items() if format_.dump and format_.load])
async def test_lines_of_every_format_can_be_read_again(client: httpx.AsyncClient, target: str) -> None:
    response = await share(client, format="jsonl", target=target)
    assert TOKEN not in response.text
    load = get_format(target).load
    assert load is not None
    messages = load(read_lines(response.text, target)).messages
    assert b"Deployed." in encode(messages)


@pytest.mark.usefixtures("thread")
async def test_a_fixture_has_the_output_of_the_agent(client: httpx.AsyncClient, store: Store) -> None:
    recorded: list[Chunk] = [
        MessageStart(message_id="m3"),
        TextStart("x"),
        TextDelta(id="x", delta=f"It is {TOKEN[:12]}"),
        TextDelta(id="x", delta=f"{TOKEN[12:]}."),
        TextEnd("x"),
        MessageFinish(),
    ]
    run = await store.runs.open("t1", id="r1")
    now = datetime(2026, 3, 1, tzinfo=UTC)
    await store.logs.append(
        run.id, [LogEntry(now, chunk=chunk, raw=dumps(to_json(chunk)) + b"\n") for chunk in recorded]
    )
    await store.logs.append(run.id, [LogEntry(now + timedelta(seconds=2.5), raw=b"\xff\xfe")])
    await store.runs.finish(run.id)
    result = loads((await share(client, format="fixture")).content)
    assert MESSAGES.read(result["messages"])[0].id == "m1"
    recording = parse_recording(dumps(result), "a file")
    (one,) = recording.exchanges
    assert [read_chunk(chunk) for chunk in one.chunks or ()][2:4] == [
        TextDelta(id="x", delta="It is [redacted: github token 1]"),
        TextDelta(id="x", delta="."),
    ]
    assert (recording.origin.kind, recording.origin.id) == ("thread", "t1")
    assert one.prompt is not None
    assert one.prompt.startswith("Use [redacted: github token 1].")
    assert TOKEN[12:].encode() not in dumps(result)


REQUEST_BODY = {"messages": [{"role": "user", "content": f"Use {TOKEN}."}], "model": "m"}


async def with_a_call(store: Store) -> None:
    """A run whose model was called over HTTP."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    recorded: JsonObject = {
        "choices": [{"index": 0, "delta": {"content": "Quite so."}, "finish_reason": "stop"}]
    }
    raw = b"data: " + dumps(recorded) + b"\n\n"
    facts = {"format": "openai-chat", "framing": "sse"}
    run = await store.runs.open("t1", id="r2")
    await store.logs.append(
        run.id,
        [
            LogEntry(
                now, chunk=request_marker(ModelRequest("openai-chat", "/chat/completions", REQUEST_BODY))
            ),
            LogEntry(now, chunk=DataChunk(CALL, facts, transient=True)),
            LogEntry(now, chunk=TextStart("x"), raw=raw),
            LogEntry(now, chunk=TextDelta(id="x", delta="Quite so.")),
            LogEntry(now, chunk=DataChunk(CALL_END, transient=True)),
        ],
    )
    await store.runs.finish(run.id)


@pytest.mark.usefixtures("thread")
async def test_a_fixture_has_requests_and_responses_of_models(
    client: httpx.AsyncClient, store: Store
) -> None:
    await with_a_call(store)
    text = (await share(client, format="fixture")).text
    (one,) = parse_recording(text.encode(), "a file").exchanges
    assert one.request is not None
    assert is_object(one.request.body)
    assert one.request.body["messages"][0]["content"] == "Use [redacted: github token 1]."
    assert one.response is not None
    assert "Quite so." in (one.response.stream or [""])[0]


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize(
    "how", [{"leaveOut": {"kinds": ["reasoning"]}}, {"messages": {"only": ["m2"]}}], ids=str
)
async def test_requests_are_left_out_when_only_a_part_is_shared(
    client: httpx.AsyncClient, store: Store, how: dict[str, Any]
) -> None:
    await with_a_call(store)
    text = (await share(client, format="fixture", **how)).text
    assert all(one.request is None for one in parse_recording(text.encode(), "a file").exchanges)
    assert "chat/completions" not in text


@pytest.mark.usefixtures("thread")
async def test_chosen_content_is_left_out(client: httpx.AsyncClient) -> None:
    out = {
        "kinds": ["reasoning", "tool-outputs"],
        "messages": ["m1"],
        "parts": [{"message": "m2", "path": "2"}],
    }
    text = (await share(client, format="markdown", leaveOut=out)).text
    assert "password is secret" not in text
    assert "said" not in text
    assert "Deployed." not in text
    assert "[left out: a message]" in text
    result = await preview(client, format="markdown", leaveOut=out)
    assert result["removed"] == {
        "reasoning": 1,
        "the output of a tool": 1,
        "a message": 1,
        "a part": 1,
    }


@pytest.mark.usefixtures("thread")
async def test_only_some_messages_can_be_shared(client: httpx.AsyncClient) -> None:
    result = await preview(client, format="jsonl", messages={"only": ["m2"]})
    assert result["messages"] == 1


@pytest.mark.usefixtures("thread")
async def test_findings_can_be_kept_and_more_secrets_named(client: httpx.AsyncClient) -> None:
    result = await preview(
        client, format="jsonl", redact={"custom": [{"text": r"Deploy\w+", "pattern": True}]}
    )
    token = next(one for one in result["findings"] if one["kind"] == "github-token")
    assert TOKEN not in dumps(result).decode()
    assert "[redacted: custom 1]" in {one["mark"] for one in result["findings"]}
    text = (await share(client, format="jsonl", redact={"keep": [token["id"]]})).text
    assert TOKEN in text
    assert PASSWORD not in text


REFUSED: dict[str, tuple[dict[str, Any], int]] = {
    "no format": ({}, 400),
    "an unknown format": ({"format": "pdf"}, 400),
    "an unknown target": ({"format": "jsonl", "as": "nonesuch"}, 400),
    "a read-only target": ({"format": "jsonl", "as": "cherry"}, 400),
    "an unknown kind": ({"format": "jsonl", "redact": {"kinds": ["x"]}}, 400),
    "an invalid pattern": (
        {"format": "jsonl", "redact": {"custom": [{"text": "(a+)+", "pattern": True}]}},
        400,
    ),
    "an unknown member": ({"format": "jsonl", "leaveout": {}}, 400),
}


@pytest.mark.usefixtures("thread")
@each_row(("body", "status"), REFUSED.values(), ids=REFUSED)
async def test_invalid_requests_are_refused(
    client: httpx.AsyncClient, body: dict[str, Any], status: int
) -> None:
    assert (await share(client, status, **body)).json()["detail"]


@pytest.mark.usefixtures("thread", "reader")
@each_row("format", ["html", "markdown", "json", "jsonl"])
async def test_several_threads_are_one_file(store: Store, client: httpx.AsyncClient, format: str) -> None:
    other = f"t-{format}"
    await store.threads.create(id=other, title="Lamps")
    await store.messages.save([UserMessage(id="n1", content="Light it")], thread_id=other)
    response = await client.post("/api/share", json={"format": format, "ids": [other, "t1", other]})
    assert response.status_code == 200, response.text
    suffix = {"markdown": "md"}.get(format, format)
    assert response.headers["content-disposition"] == f'attachment; filename="2-sessions.{suffix}"'
    assert "Light it" in response.text
    assert "Deployed." in response.text
    assert TOKEN not in response.text
    if format == "html":
        listed = embedded(response.text)["threads"]
        assert [one["thread"]["id"] for one in listed] == [other, "t1"]


@pytest.mark.usefixtures("thread")
@each_row(
    ("body", "status"),
    [
        ({"format": "markdown", "ids": ["nowhere"]}, 404),
        ({"format": "markdown", "ids": []}, 400),
        ({"format": "markdown"}, 400),
        ({"format": "fixture", "ids": ["t1"]}, 400),
        ({"format": "json", "as": "ui", "ids": ["t1"]}, 400),
    ],
)
async def test_a_file_of_several_threads_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], status: int
) -> None:
    assert (await client.post("/api/share", json=body)).status_code == status


async def test_a_missing_thread_is_not_found(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/threads/nowhere/share", json={"format": "jsonl"})).status_code == 404


@pytest.mark.usefixtures("thread", "reader")
async def test_an_image_is_shared_unchanged(store: Store, client: httpx.AsyncClient) -> None:
    content = base64.b64encode(random.Random(7).randbytes(3000)).decode()
    url = f"data:image/png;base64,{content[:100]}/AKIAIOSFODNN7EXAMPLE/password/{content[100:]}"
    picture = FilePart(url=url, media_type="image/png")
    secret = UserMessage(id="m8", content=f"password={content[200:220]} and AKIAIOSFODNN7EXAMPLE")
    await store.messages.save([UserMessage(id="m9", content=[picture]), secret], thread_id="t1")
    data = embedded((await share(client, format="html")).text)
    assert url in dumps(data).decode()
    assert "AKIAIOSFODNN7EXAMPLE" not in dumps(data).decode().replace(url, "")


@pytest.mark.usefixtures("thread")
async def test_content_over_the_search_limit_is_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_REDACT_LIMIT", "50")
    result = (await share(client, 413, format="jsonl")).json()
    assert result["detail"] == "more than 50 characters to search for secrets"
    assert "PARTITA_REDACT_LIMIT" in result["hint"]


async def test_a_file_can_be_created_in_another_process(store: Store, thread: Thread) -> None:
    formats: tuple[ShareFormat, ...] = ("markdown", "jsonl", "fixture")
    for name in formats:
        request = ShareRequest(format=name)
        gathered = await read_content(store, thread, request.messages, logs=True)
        arguments = pickle.loads(pickle.dumps((gathered, request, "1")))
        file = pickle.loads(pickle.dumps(shared_file(*arguments)))
        assert file == shared_file(gathered, request, "1")
        assert TOKEN.encode() not in b"".join(file.pieces)
