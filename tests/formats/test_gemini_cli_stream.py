"""The output of Gemini CLI with `--output-format stream-json`."""

from partita.formats.gemini_cli.stream import GeminiStreamDecoder
from partita.stream.accumulator import Accumulator
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import DataPart, ErrorTextOutput, StepStartPart, TextOutput, TextPart, ToolState
from tests.tables import each_row

AT = "2026-05-01T08:00:00.000Z"


def message(text: str, delta: bool = True) -> JsonObject:
    return {"type": "message", "timestamp": AT, "role": "assistant", "content": text, "delta": delta}


def tool_use(id: str) -> JsonObject:
    return {
        "type": "tool_use",
        "timestamp": AT,
        "tool_name": "ls",
        "tool_id": id,
        "parameters": {"path": "."},
    }


def tool_result(id: str, output: str) -> JsonObject:
    return {"type": "tool_result", "timestamp": AT, "tool_id": id, "status": "success", "output": output}


def called(id: str, output: TextOutput | ErrorTextOutput, metadata: JsonObject | None = None) -> ToolCallPart:
    state: ToolState = "output-available" if isinstance(output, TextOutput) else "output-error"
    return ToolCallPart(id, "ls", state, {"path": "."}, output=output, tool_metadata=metadata)


def done(text: str) -> TextPart:
    return TextPart(text, state="done")


FAILED: JsonObject = {
    "type": "tool_result",
    "tool_id": "c1",
    "status": "error",
    "error": {"type": "not_found", "message": "gone"},
}
FAILED_METADATA: JsonObject = {"geminiCli": {"status": "error", "error": FAILED["error"]}}
PROMPT: JsonObject = {"type": "message", "timestamp": AT, "role": "user", "content": "List it"}
WARNING: JsonObject = {"type": "error", "timestamp": AT, "severity": "warning", "message": "slow"}

CASES: dict[str, tuple[list[Json], list[AssistantPart]]] = {
    "pieces of a text": ([message("Hel"), message("lo")], [StepStartPart(), done("Hello")]),
    "whole texts": ([message("a", False), message("b", False)], [StepStartPart(), done("a"), done("b")]),
    "a call, its result, and what follows": (
        [message("I look."), tool_use("c1"), tool_result("c1", "x"), message("Done.")],
        [StepStartPart(), done("I look."), called("c1", TextOutput("x")), StepStartPart(), done("Done.")],
    ),
    "calls side by side are one step": (
        [tool_use("c1"), tool_use("c2"), tool_result("c2", "b"), tool_result("c1", "a"), message("Done.")],
        [
            StepStartPart(),
            called("c1", TextOutput("a")),
            called("c2", TextOutput("b")),
            StepStartPart(),
            done("Done."),
        ],
    ),
    "a call that fails": (
        [tool_use("c1"), FAILED],
        [StepStartPart(), called("c1", ErrorTextOutput("gone"), FAILED_METADATA)],
    ),
    "a prompt": (
        [PROMPT],
        [DataPart("gemini-message", {"timestamp": AT, "role": "user", "content": "List it"})],
    ),
    "a warning": (
        [WARNING],
        [DataPart("gemini-warning", {"timestamp": AT, "severity": "warning", "message": "slow"})],
    ),
    "the result has no call right before it": (
        [tool_result("c9", "x")],
        [
            DataPart(
                "gemini-result",
                {key: value for key, value in tool_result("c9", "x").items() if key != "type"},
            )
        ],
    ),
    "an unknown event": (
        [{"type": "tea"}, 3],
        [DataPart("gemini-unknown", {"type": "tea"}), DataPart("gemini-unknown", 3)],
    ),
}


def accumulate(events: list[Json]) -> Accumulator:
    decoder, accumulator = GeminiStreamDecoder(), Accumulator(id="m")
    for event in events:
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    for chunk in decoder.finish():
        accumulator.feed(chunk)
    return accumulator


@each_row(("events", "parts"), CASES.values(), ids=CASES)
def test_events(events: list[Json], parts: list[AssistantPart]) -> None:
    assert accumulate(events).finish().parts == tuple(parts)


def test_a_complete_run() -> None:
    stats = {"total_tokens": 12, "input_tokens": 10, "output_tokens": 2, "cached": 4, "duration_ms": 90}
    accumulator = accumulate(
        [
            {"type": "init", "timestamp": AT, "session_id": "s-1", "model": "gemini-test"},
            message("Hi"),
            {"type": "error", "timestamp": AT, "severity": "error", "message": "once"},
            {"type": "result", "timestamp": AT, "status": "success", "stats": stats},
        ]
    )
    assert accumulator.finish_reason == "stop"
    assert accumulator.errors == ("once",)
    assert accumulator.finish().content.metadata == {
        "model": "gemini-test",
        "geminiCli": {"sessionId": "s-1", "startedAt": AT, "status": "success", "stats": stats},
    }


def test_a_run_that_failed() -> None:
    accumulator = accumulate(
        [{"type": "result", "status": "error", "error": {"type": "quota", "message": "empty"}}]
    )
    assert accumulator.finish_reason == "error"
    assert accumulator.errors == ("empty",)
