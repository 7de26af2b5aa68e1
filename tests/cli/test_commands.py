"""`partita fold`, `convert`, `formats` and `tour`."""

import gzip
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from partita.cli.main import cli
from partita.demo import recorded_stream
from partita.formats.conversion import convert
from partita.store.compress import zstd
from partita.stream.sse import DONE, frame
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, loads
from tests.formats.mastra_streams import NETWORK
from tests.sampling import HUGE
from tests.tables import each_row

HELLO: list[JsonObject] = [
    {"type": "start", "messageId": "m1"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Hel"},
    {"type": "text-delta", "id": "t", "delta": "lo"},
    {"type": "text-end", "id": "t"},
]
FOLDED: JsonObject = {
    "id": "m1",
    "role": "assistant",
    "parts": [{"type": "text", "text": "Hello", "state": "done"}],
}
CHAT: list[JsonObject] = [
    {"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
    {"id": "a", "role": "assistant", "metadata": {"n": 1}, "parts": [{"type": "text", "text": "hey"}]},
]


def partita(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, list(arguments), input=stdin)


def lines(values: list[JsonObject]) -> bytes:
    return b"".join(dumps(value) + b"\n" for value in values)


SHAPES = {
    "JSON lines": lines(HELLO),
    "JSON lines with blank ones between": lines(HELLO).replace(b"\n", b"\n\n"),
    "one JSON document": dumps(HELLO),
    "an indented document": b"[\n" + b",\n".join(dumps(chunk) for chunk in HELLO) + b"\n]",
    "server-sent events": b"".join(frame(dumps(chunk)) for chunk in HELLO) + DONE,
    "events after a comment": b": stream-open\n\n" + b"".join(frame(dumps(chunk)) for chunk in HELLO),
    "events with a byte order mark": b"\xef\xbb\xbf" + b"".join(frame(dumps(chunk)) for chunk in HELLO),
    "a version 4 data stream": b'f:{"messageId":"m1"}\n0:"Hel"\n0:"lo"\nd:{"finishReason":"stop"}\n',
}


@each_row("stream", SHAPES.values(), ids=SHAPES)
def test_fold_reads_every_input_shape(stream: bytes) -> None:
    result = partita("fold", stdin=stream)
    assert result.exit_code == 0, result.stderr
    message = loads(result.stdout_bytes)
    assert [part for part in message["parts"] if part["type"] != "step-start"] == FOLDED["parts"]
    assert message["id"] == "m1"


def test_fold_reads_a_file_and_prints_other_views(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(lines(HELLO))
    assert loads(partita("fold", str(path), "--to", "model").stdout_bytes) == (
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
    )
    canonical = loads(partita("fold", str(path), "--to", "canonical").stdout_bytes)
    assert canonical["content"]["parts"] == FOLDED["parts"]


def test_fold_reports_the_position_of_an_invalid_chunk() -> None:
    result = partita("fold", stdin=lines([*HELLO, {"type": "text-delta", "id": "t", "delta": "!"}]))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "chunk 5" in result.stderr
    assert "hint:" in result.stderr


def test_fold_skips_invalid_chunks_if_lenient() -> None:
    result = partita(
        "fold", "--lenient", stdin=lines([*HELLO, {"type": "text-delta", "id": "t", "delta": "!"}])
    )
    assert result.exit_code == 0
    assert loads(result.stdout_bytes) == FOLDED
    assert "chunk 5" in result.stderr


def test_fold_reports_errors_in_the_stream() -> None:
    result = partita("fold", stdin=lines([*HELLO, {"type": "error", "errorText": "overloaded"}]))
    assert "overloaded" in result.stderr
    assert loads(result.stdout_bytes) == FOLDED


def test_fold_prints_every_message() -> None:
    stream = [*HELLO, {"type": "finish"}, {**HELLO[0], "messageId": "m2"}, *HELLO[1:]]
    result = partita("fold", stdin=lines(stream))
    assert [loads(line) for line in result.stdout.splitlines()] == [FOLDED, {**FOLDED, "id": "m2"}]
    continued = partita("fold", stdin=lines([*stream, HELLO[0], *HELLO[1:]]))
    parts = [loads(line)["parts"] for line in continued.stdout.splitlines()]
    assert [len(each) for each in parts] == [2, 1]
    assert len(partita("fold", "--to", "model", stdin=lines(stream)).stdout.splitlines()) == 2


def test_fold_prints_every_message_of_a_network() -> None:
    result = partita("fold", "--losses", "--to", "canonical", stdin=lines(NETWORK))
    messages = [loads(line) for line in result.stdout.splitlines()]
    assert len(messages) == 7
    executions = [message["content"].get("networkExecution") for message in messages]
    assert [one["primitiveId"] for one in executions if one] == ["painter", "paint", "bill"]
    assert "replaced" not in result.stderr


FULL_STREAM: list[JsonObject] = [
    {"type": "start"},
    {"type": "start-step", "request": {"body": "{}"}, "warnings": []},
    {"type": "source", "sourceType": "url", "id": "s", "url": "https://example.com"},
    {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {}},
    {"type": "tool-error", "toolCallId": "c", "toolName": "look", "input": {}, "error": "no network"},
    {"type": "raw", "rawValue": {"a": 1}},
]


@each_row("version", ["5", "6", "7"])
def test_fold_keeps_sources_and_errors_and_reports_the_rest(version: str) -> None:
    name = f"ai-sdk-full-stream-v{version}"
    result = partita("fold", "--losses", "--from", name, stdin=lines(FULL_STREAM))
    _, source, call = loads(result.stdout_bytes)["parts"]
    assert (source["type"], source["url"]) == ("source-url", "https://example.com")
    assert call["errorText"] == "no network"
    assert re.findall(r"\$\[[^ :]+", result.stderr) == ["$[1].request", "$[5].rawValue"]
    assert "nothing was lost" not in result.stderr


def test_fold_writes_for_an_ai_sdk_version() -> None:
    stream = b"".join(encode(chunk) + b"\n" for chunk in recorded_stream())
    result = partita("fold", "--to", "ai-sdk-ui-v5", "--losses", stdin=stream)
    assert "approval" not in loads(result.stdout_bytes)["parts"][8]
    assert "the format has no place for it" in result.stderr


def test_convert_detects_and_reports_the_source_format() -> None:
    result = partita("convert", "--to", "model", stdin=dumps(CHAT))
    assert loads(result.stdout_bytes) == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "hey"}]},
    ]
    assert "ai-sdk-ui-v7" in result.stderr
    assert result.stderr.splitlines()[-1] == (
        "partita: 3 losses (1 lost, 2 changed): 2 × it gets another id when it is read back,"
        " 1 × the format has no place for it; --losses lists all"
    )


def test_convert_writes_json_lines_for_json_lines() -> None:
    result = partita("convert", "--from", "ui", "--to", "canonical", stdin=lines(CHAT))
    written: list[Json] = [loads(line) for line in result.stdout_bytes.splitlines()]
    assert [message["id"] for message in written] == ["u", "a"]


def test_fold_prints_messages_and_losses_as_json() -> None:
    stream = lines([*FULL_STREAM, {"type": "unknown", "value": "x" * 600}])
    result = partita("fold", "--from", "ai-sdk-full-stream-v6", "--to", "ui", "--json", stdin=stream)
    report = loads(result.stdout_bytes)
    assert result.stderr == ""
    assert (report["from"], report["to"], len(report["messages"])) == ("ai-sdk-full-stream-v6", "ui", 1)
    assert any("x" * 600 in loss["what"] for loss in report["losses"])


def test_fold_gives_a_message_without_an_id_one() -> None:
    assert loads(partita("fold", stdin=lines(HELLO[1:])).stdout_bytes)["id"] == "message-1"


@each_row("compress", [gzip.compress, zstd.compress])
def test_compressed_input_is_read_from_a_file_and_a_pipe(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "stream"
    path.write_bytes(compress(lines(HELLO)))
    for result in (
        partita("fold", str(path)),
        partita("fold", stdin=compress(lines(HELLO))),
        partita("convert", "--to", "ui", str(path)),
    ):
        assert loads(result.stdout_bytes) == FOLDED
    cut = partita("fold", stdin=compress(b"".join(frame(dumps(chunk)) for chunk in HELLO))[:-5])
    assert (cut.exit_code, "compressed file is" in cut.stderr) == (1, True)


def test_convert_lists_losses() -> None:
    result = partita("convert", "--from", "ui", "--to", "model", "--losses", stdin=dumps(CHAT))
    assert 'lost messages[1].content.metadata: {"n":1}' in result.stderr


def test_convert_prints_the_payload_and_losses_as_json() -> None:
    report = loads(partita("convert", "--to", "model", "--json", stdin=dumps(CHAT)).stdout_bytes)
    expected = convert(CHAT, "ui", "model")
    assert report["payload"] == expected.payload
    assert report["losses"] == [loss._asdict() for loss in expected.losses]
    assert (report["from"], report["guess"]["format"]) == ("ai-sdk-ui-v7", "ai-sdk-ui-v7")


def test_paths_of_losses_name_what_they_are_in() -> None:
    chat = [{**CHAT[1], "note": 1}, {**CHAT[1], "id": "b", "role": "user"}]
    losses = {(loss.path, loss.what) for loss in convert(chat, "ui", "anthropic").losses}
    assert {
        ("messages[0].content.metadata", '{"n":1}'),
        ("messages[1].content.metadata", '{"n":1}'),
    } <= losses
    paths = [loss.path for loss in convert({"messages": [], "x": 1}, "anthropic", "ui").losses]
    assert paths == ["$.x"]
    folded = loads(partita("fold", "--to", "anthropic", "--json", stdin=lines(FINISHED)).stdout_bytes)
    assert {"$[5].finishReason", "messages[0].id"} <= {loss["path"] for loss in folded["losses"]}


FINISHED: list[JsonObject] = [*HELLO, {"type": "finish", "finishReason": "stop"}]


def test_each_loss_has_its_own_path_and_json_has_the_whole_value() -> None:
    notes = [f"{place} {'lamp ' * 200}" for place in range(5)]
    texts = [{"type": "text", "text": f"line {place}", "note": note} for place, note in enumerate(notes)]
    chat = [{"id": "u", "role": "user", "content": texts}]
    arguments = ("convert", "--from", "canonical", "--to", "openai-chat")
    result = partita(*arguments, "--losses", stdin=dumps(chat))
    written = loads(partita(*arguments, "--json", stdin=dumps(chat)).stdout_bytes)["losses"]
    found = {one["path"]: loads(one["what"]) for one in written if one["path"].endswith(".note")}
    assert found == {f"$[0].content.parts[{place}].note": note for place, note in enumerate(notes)}
    for where, note in found.items():
        (line,) = [line for line in result.stderr.splitlines() if f" {where}: " in line]
        assert f'"{note}"'[:500] in line
        assert len(line) < 600


def test_conversion_to_the_same_format_reports_no_losses() -> None:
    messages = [
        {"role": "user", "content": "Look"},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {}}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c",
                    "toolName": "look",
                    "output": {"type": "text", "value": "sky"},
                }
            ],
        },
    ]
    result = partita("convert", "--from", "model", "--to", "model", "--losses", stdin=dumps(messages))
    assert loads(result.stdout) == messages
    assert result.stderr == "partita: nothing was lost\n"


def test_paths_of_losses_refer_to_the_source_messages() -> None:
    chat = [
        {"id": "a", "role": "assistant", "content": [{"type": "tool-call", "id": "c", "name": "look"}]},
        {
            "id": "r",
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "id": "c",
                    "name": "look",
                    "output": {"type": "text", "value": "sky"},
                }
            ],
            "runId": "run-of-the-result",
        },
        {"id": "u", "role": "user", "content": "hi", "runId": "run-of-the-user"},
    ]
    for target in ("model", "ai-sdk-ui-v6", "anthropic", "openai-chat", "gemini", "langchain"):
        losses = {loss.what: loss.path for loss in convert(chat, "canonical", target).losses}
        assert losses['"run-of-the-result"'] == "$[1].runId", target
        assert losses['"run-of-the-user"'] == "$[2].runId", target


def test_convert_repairs_open_calls() -> None:
    call = {"type": "tool-call", "id": "c", "name": "look", "input": {}}
    chat = [
        {"id": "u", "role": "user", "content": "Look"},
        {"id": "a", "role": "assistant", "content": [call]},
    ]
    for repair, roles in {"answer": ["user", "assistant", "tool"], "remove": ["user"]}.items():
        result = partita(
            "convert", "--from", "canonical", "--to", "model", "--repair", repair, stdin=dumps(chat)
        )
        assert [message["role"] for message in loads(result.stdout)] == roles


def test_convert_folds_a_stream() -> None:
    result = partita("convert", "--to", "ui", stdin=lines(HELLO))
    assert [loads(line) for line in result.stdout_bytes.splitlines()] == [FOLDED]


def test_convert_reports_other_possible_formats() -> None:
    result = partita("convert", "--to", "ui", stdin=dumps([{"role": "user", "content": "hi"}]))
    assert "read as ai-sdk-model-v7" in result.stderr
    assert "it could be openai-chat" in result.stderr
    assert "nothing in it distinguishes them" in result.stderr


def test_convert_reports_that_nothing_was_lost() -> None:
    result = partita("convert", "--from", "ui", "--to", "ai-sdk-ui-v6", "--losses", stdin=dumps(CHAT))
    assert "nothing was lost" in result.stderr
    assert loads(result.stdout_bytes) == CHAT


BAD: dict[str, tuple[list[str], bytes, str]] = {
    "empty input": (["fold"], b"", "empty"),
    "truncated JSON": (["fold"], lines(HELLO) + b'{"type":', "at: line 6, column 9"),
    "truncated JSON in an event": (["fold"], b'data: {"type":\n\n', "event 0"),
    "a forbidden key in an event": (["fold"], b'data: {"type":"start","__proto__":{}}\n\n', "event 0"),
    "a wrong type": (["fold"], b'{"type":"text-start","id":5}\n', "$.id"),
    "invalid UTF-8": (["fold"], b'{"type":"text-start","id":"\xff"}\n', "UTF-8"),
    "invalid UTF-8 in an event": (["fold"], b'data: {"type":"\xff"}\n\n', "byte"),
    "no chunks": (["fold"], b'[{"a":1}]', "format"),
    "messages instead of a stream": (["fold", "--from", "ui"], dumps(CHAT), "partita convert"),
    "an unknown format": (["convert", "--to", "ui8"], dumps(CHAT), "did you mean"),
    "a format that cannot be written": (["convert", "--to", "legacy"], dumps(CHAT), "not written"),
    "a broken message": (
        ["convert", "--from", "ui", "--to", "model"],
        b'[{"role":"bot","parts":[]}]',
        "$[0].role",
    ),
    "depth 10,000": (["convert", "--to", "ui"], b"[" * 10_000 + b"]" * 10_000, "at: the JSON document"),
    "a number out of range": (["fold"], b'{"type":"data-x","data":1e999}', "range"),
}


@each_row(("arguments", "stdin", "message"), BAD.values(), ids=BAD)
def test_invalid_input_is_an_error_with_a_hint(arguments: list[str], stdin: bytes, message: str) -> None:
    result = partita(*arguments, stdin=stdin)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert "hint:" in result.stderr
    assert "Traceback" not in result.stderr


@each_row(
    "arguments, listed, not_listed",
    [
        (["convert", "--from", "nope", "--to", "ui"], "claude-code-log", "markdown"),
        (["convert", "--to", "nope"], "markdown", "codex-exec"),
        (["fold", "--from", "nope"], "ai-sdk-chunks", "chatml"),
        (["fold", "--to", "nope"], "chatml", "ai-sdk-chunks"),
        (["convert", "--to", "codex-exec"], "chatml", "gemini-cli-stream"),
    ],
)
def test_hints_list_only_formats_that_can_be_used(arguments: list[str], listed: str, not_listed: str) -> None:
    hint = partita(*arguments, stdin=lines(HELLO)).stderr.replace("\n", " ")
    assert listed in hint
    assert not_listed not in hint.partition("hint:")[2].split(", ")


def test_formats_lists_names_and_aliases() -> None:
    output = partita("formats").stdout
    assert "ai-sdk-ui-v7" in output
    assert "or: ui" in output


def test_tour_shows_parts_and_losses() -> None:
    result = partita("tour", "--fast")
    assert result.exit_code == 0
    for shown in (
        "forecast",
        "Park scout",
        "fig tree",
        "The kiosk takes no reservations",
        "reasoning-delta   picnic on Saturday.",
        "ai-sdk-ui-v7  AI SDK 7 UI messages",
        "nothing is lost",
        "1 loss: the format has no place for it",
        "partita show last ",
    ):
        assert shown in result.stdout
    assert "{" not in result.stdout.replace('{"done":3,"of":3}', "")


@each_row("command", ["fold", "convert", "formats", "tour"])
def test_command_has_help(command: str) -> None:
    assert partita(command, "--help").exit_code == 0
    assert command in partita("--help").stdout


def test_closed_pipe_is_not_an_error() -> None:
    command = [sys.executable, "-c", "from partita.cli.main import main; main()", "formats"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_huge_line_is_folded() -> None:
    text = "x" * HUGE
    stream = lines([{"type": "text-start", "id": "t"}, {"type": "text-delta", "id": "t", "delta": text}])
    message = loads(partita("fold", stdin=stream).stdout_bytes)
    assert len(message["parts"][0]["text"]) == len(text)
