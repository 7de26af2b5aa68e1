"""A `tool_result` block becomes one typed output, and nothing of the block is lost."""

from hypothesis import given
from msgspec import UNSET

from partita.formats.claude_code.tool_results import output_chunk
from partita.types.chunks import ToolOutputChunk
from partita.types.json import Json, JsonObject
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.strategies import json_values
from tests.tables import each_row


def block(**fields: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": "call-1", **fields}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def source(**fields: str) -> JsonObject:
    return {"type": "image", "source": fields}


REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
REASON_PREFIX = f"{REJECTED} To tell you how to proceed, the user said:\n"
MEMORY = "\n\nNote: The user's next message may contain a correction or preference. Listen well."

OUTPUTS: dict[str, tuple[JsonObject, ToolOutput]] = {
    "text": (block(content="three files"), TextOutput("three files")),
    "text that looks like a number stays text": (block(content="42"), TextOutput("42")),
    "text that looks like an object stays text": (block(content='{"a": 1}'), TextOutput('{"a": 1}')),
    "empty text": (block(content=""), TextOutput("")),
    "no content": (block(), TextOutput("", provider_metadata={"anthropic": {"content": "absent"}})),
    "null": (block(content=None), TextOutput("", provider_metadata={"anthropic": {"content": None}})),
    "is_error is false": (
        block(content="ok", is_error=False),
        TextOutput("ok", provider_metadata={"anthropic": {"isError": False}}),
    ),
    "no error and no content": (
        block(is_error=False),
        TextOutput("", provider_metadata={"anthropic": {"isError": False, "content": "absent"}}),
    ),
    "a list of one text keeps its shape": (block(content=[text("hit")]), ContentOutput((TextPart("hit"),))),
    "an empty list": (block(content=[]), ContentOutput(())),
    "a text with more members": (
        block(content=[text("hit") | {"citations": []}]),
        ContentOutput((TextPart("hit", provider_metadata={"anthropic": {"fields": {"citations": []}}}),)),
    ),
    "a picture": (
        block(content=[source(type="base64", media_type="image/png", data="AAAA"), text("a map")]),
        ContentOutput((ImagePart("data:image/png;base64,AAAA", "image/png"), TextPart("a map"))),
    ),
    "a picture with a URL": (
        block(content=[source(type="url", url="https://maps.example/1.png")]),
        ContentOutput((ImagePart("https://maps.example/1.png"),)),
    ),
    "a picture with a file id": (
        block(content=[source(type="file", file_id="file_7")]),
        ContentOutput((FilePart("", "image/*", provider_reference={"anthropic": "file_7"}),)),
    ),
    "a picture without a source": (
        block(content=[source(type="fax")]),
        ContentOutput((ForeignPart("anthropic", source(type="fax")),)),
    ),
    "a reference to a tool": (
        block(content=[{"type": "tool_reference", "tool_name": "Weigh"}]),
        ContentOutput((ForeignPart("anthropic", {"type": "tool_reference", "tool_name": "Weigh"}),)),
    ),
    "an item that is not an object": (block(content=[7]), ContentOutput((ForeignPart("anthropic", 7),))),
    "an object": (block(content={"rows": 2}), JsonOutput({"rows": 2})),
    "a failure with a text": (
        block(content="Exit code 2\nno such street", is_error=True),
        ErrorTextOutput("Exit code 2\nno such street"),
    ),
    "a tool's own refusal of its input keeps its tags": (
        block(content="<tool_use_error>Read it first.</tool_use_error>", is_error=True),
        ErrorTextOutput("<tool_use_error>Read it first.</tool_use_error>"),
    ),
    "a failure in blocks": (block(content=[text("no")], is_error=True), ErrorJsonOutput([text("no")])),
    "a failure without a text": (
        block(is_error=True),
        ErrorTextOutput("", provider_metadata={"anthropic": {"content": "absent"}}),
    ),
    "a denial by the user": (block(content=REJECTED, is_error=True), ExecutionDeniedOutput(REJECTED)),
    "a denial by the user with a reason": (
        block(content=REASON_PREFIX + "weigh it first", is_error=True),
        ExecutionDeniedOutput(
            "weigh it first", provider_metadata={"anthropic": {"content": REASON_PREFIX + "weigh it first"}}
        ),
    ),
    "a note to the model is not part of the reason": (
        block(content=REASON_PREFIX + "weigh it first" + MEMORY, is_error=True),
        ExecutionDeniedOutput(
            "weigh it first",
            provider_metadata={"anthropic": {"content": REASON_PREFIX + "weigh it first" + MEMORY}},
        ),
    ),
    "a denial by the user in blocks": (
        block(content=[text(REJECTED)], is_error=True),
        ExecutionDeniedOutput(REJECTED, provider_metadata={"anthropic": {"content": [text(REJECTED)]}}),
    ),
    "the text of a denial in a successful result is text": (block(content=REJECTED), TextOutput(REJECTED)),
    "no user to ask for permission": (
        block(content="Claude requested permissions to use Oven, but you haven't granted it.", is_error=True),
        ExecutionDeniedOutput("Claude requested permissions to use Oven, but you haven't granted it."),
    ),
    "it needs approval": (
        block(content="This command requires approval", is_error=True),
        ExecutionDeniedOutput("This command requires approval"),
    ),
    "a rule denies the tool": (
        block(content="Permission to use Oven with command bake has been denied.", is_error=True),
        ExecutionDeniedOutput("Permission to use Oven with command bake has been denied."),
    ),
    "a directory out of bounds": (
        block(content="ls in '/' was blocked. For security, Claude Code may only list here.", is_error=True),
        ExecutionDeniedOutput("ls in '/' was blocked. For security, Claude Code may only list here."),
    ),
    "a denial by a hook": (
        block(content="PreToolUse:Oven hook error: too hot", is_error=True),
        ExecutionDeniedOutput("PreToolUse:Oven hook error: too hot"),
    ),
    "a sibling failed": (
        block(content="<tool_use_error>Sibling tool call errored</tool_use_error>", is_error=True),
        InterruptedOutput("aborted", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
    ),
    "a parallel call failed": (
        block(content="Cancelled: parallel tool call Oven(bake…) errored", is_error=True),
        InterruptedOutput("aborted", "Cancelled: parallel tool call Oven(bake…) errored"),
    ),
    "an interruption by the user": (
        block(content=[text("[Request interrupted by user for tool use]")], is_error=True),
        InterruptedOutput(
            "aborted",
            "[Request interrupted by user for tool use]",
            provider_metadata={
                "anthropic": {"content": [text("[Request interrupted by user for tool use]")]}
            },
        ),
    ),
}


@each_row(("raw", "output"), OUTPUTS.values(), ids=OUTPUTS)
def test_a_block_becomes_an_output_of_its_type(raw: JsonObject, output: ToolOutput) -> None:
    assert output_chunk(raw, UNSET) == ToolOutputChunk("call-1", output)


KINDS: dict[str, tuple[JsonObject, str, ToolOutput]] = {
    "the whole text is the reason": (
        block(content="use rye", is_error=True),
        "user-rejected",
        ExecutionDeniedOutput("use rye", provider_metadata={"anthropic": {"denial": "user-rejected"}}),
    ),
    "no error and no text": (
        block(),
        "permission-rule",
        ExecutionDeniedOutput(
            provider_metadata={"anthropic": {"isError": "absent", "denial": "permission-rule"}}
        ),
    ),
    "an empty reason": (
        block(content="", is_error=True),
        "permission-rule",
        ExecutionDeniedOutput(provider_metadata={"anthropic": {"content": "", "denial": "permission-rule"}}),
    ),
    "a kind that is not a denial": (
        block(content=REJECTED, is_error=True),
        "interrupted",
        InterruptedOutput("aborted", REJECTED, provider_metadata={"anthropic": {"denial": "interrupted"}}),
    ),
    "cancelled before it ran": (
        block(content="stop", is_error=False),
        "cancelled",
        InterruptedOutput(
            "aborted", "stop", provider_metadata={"anthropic": {"isError": False, "denial": "cancelled"}}
        ),
    ),
}


@each_row(("raw", "denied", "output"), KINDS.values(), ids=KINDS)
def test_a_named_denial_is_a_denial(raw: JsonObject, denied: str, output: ToolOutput) -> None:
    assert output_chunk(raw, UNSET, denied=denied).output == output


def test_a_separate_reason_is_used_and_the_text_is_kept() -> None:
    chunk = output_chunk(block(content="denied", is_error=True), UNSET, denied="rule", reason="no ovens here")
    kept = {"anthropic": {"content": "denied", "denial": "rule"}}
    assert chunk.output == ExecutionDeniedOutput("no ovens here", provider_metadata=kept)


def test_a_structured_result_shows_a_denial() -> None:
    chunk = output_chunk(block(content="use rye", is_error=True), "User rejected tool use")
    assert chunk.output == ExecutionDeniedOutput("use rye")


@each_row("structured", [{"stdout": "x"}, "Error: x", ["x"], 0, None])
def test_the_structured_result_is_kept_whole(structured: Json) -> None:
    chunk = output_chunk(block(content="x"), structured)
    assert chunk.tool_metadata == {"claudeCode": {"toolUseResult": structured}}


def test_unknown_fields_are_kept_with_given_metadata() -> None:
    raw = block(content="x", cache_control={"type": "ephemeral"})
    given_metadata = {"claudeCode": {"uuid": "u"}, "anthropic": {"type": "mcp_tool_result"}}
    chunk = output_chunk(raw, UNSET, provider_metadata=given_metadata, provider_executed=True)
    assert chunk.provider_metadata == {
        "claudeCode": {"uuid": "u"},
        "anthropic": {"type": "mcp_tool_result", "cache_control": {"type": "ephemeral"}},
    }
    assert chunk.provider_executed is True


@given(content=json_values(), is_error=json_values(1), call=json_values(1), structured=json_values(1))
def test_any_json_gives_an_output(content: Json, is_error: Json, call: Json, structured: Json) -> None:
    raw = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error}
    chunk = output_chunk(raw, structured)
    assert chunk.tool_call_id == (call if isinstance(call, str) else "")
    assert isinstance(chunk.output, ErrorTextOutput | ErrorJsonOutput) is (is_error is True)
