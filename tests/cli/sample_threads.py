"""The messages of a coding session with every kind of tool call and outcome."""

import base64
from datetime import UTC, datetime, timedelta

from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolState,
)
from partita.types.usage import Usage

START = datetime(2026, 3, 2, 14, 2, 11, tzinfo=UTC)
PICTURE = "data:image/png;base64," + base64.b64encode(bytes(3400)).decode()


def at(seconds: int) -> datetime:
    """Return the time a number of seconds after the start."""
    return START + timedelta(seconds=seconds)


def call(
    name: str,
    input: Json,
    output: ToolOutput | None,
    *,
    id: str = "",
    state: ToolState = "output-available",
    result: Json = None,
    **fields: object,
) -> ToolCallPart:
    """Return a tool call. `result` is what Claude Code stores as `toolUseResult`."""
    metadata: JsonObject | None = None if result is None else {"claudeCode": {"toolUseResult": result}}
    return ToolCallPart(
        id=id or f"call-{name}", name=name, state=state, input=input, output=output,
        tool_metadata=metadata, **fields,  # type: ignore[arg-type] # any other fields of a call
    )  # fmt: skip


def assistant_message(
    id: str, parts: list[AssistantPart], seconds: int, *, tokens: tuple[int, int] = (0, 0)
) -> Message:
    """Return a message of the agent."""
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1]) if any(tokens) else None
    content = AssistantContent(parts=tuple(parts), usage=usage, metadata={"model": "sonata-2"})
    return AssistantMessage(id=id, content=content, created_at=at(seconds))


FAILURE = call(
    "Bash",
    {"command": "pytest tests/test_clock.py -x", "description": "Run the clock tests"},
    ErrorTextOutput(
        "Exit code 1\n"
        + "\n".join(f"tests/test_clock.py::test_{name} PASSED" for name in "abcdefghijklmnop")
        + "\nE   AssertionError: assert 59 == 60\n1 failed, 16 passed in 0.42s"
    ),
    state="output-error",
)
EDIT = call(
    "Edit",
    {"file_path": "/home/ada/clock/src/clock.py", "old_string": "time.time()", "new_string": "self._now()"},
    TextOutput("The file /home/ada/clock/src/clock.py has been updated."),
    result={
        "filePath": "/home/ada/clock/src/clock.py",
        "structuredPatch": [
            {
                "oldStart": 10,
                "oldLines": 4,
                "newStart": 10,
                "newLines": 5,
                "lines": [
                    "     def tick(self) -> int:",
                    "-        now = time.time()",
                    "+        now = self._now()",
                    "+        assert now >= self._last, now",
                    "         return int(now - self._start)",
                    " ",
                ],
            }
        ],
    },
)
TODO = call(
    "TodoWrite",
    {
        "todos": [
            {"content": "Find the flaky test", "status": "completed"},
            {"content": "Give the clock a source of time", "status": "in_progress"},
            {"content": "Run all tests ten times", "status": "pending"},
        ]
    },
    TextOutput("Todos have been modified successfully."),
)
INNER_AGENT = call(
    "Agent",
    {"subagent_type": "reader", "description": "Read the changelog", "prompt": "What changed in March?"},
    TextOutput("Nothing about clocks."),
    id="inner-agent",
    children=(
        UserMessage(id="inner-ask", content="What changed in March?", created_at=at(31)),
        AssistantMessage(
            id="inner-answer",
            content=[
                call(
                    "Read",
                    {"file_path": "/home/ada/clock/CHANGELOG.md"},
                    TextOutput("     1→# Changes"),
                    id="r",
                ),
                TextPart("Nothing about clocks."),
            ],
            created_at=at(33),
        ),
    ),
)
AGENT = call(
    "Agent",
    {"subagent_type": "explorer", "description": "Who reads the wall clock?", "prompt": "Find every caller."},
    TextOutput("Two callers: `clock.py` and `timer.py`."),
    id="outer-agent",
    children=(
        UserMessage(id="sub-ask", content="Find every caller.", created_at=at(30)),
        AssistantMessage(
            id="sub-answer",
            content=AssistantContent(
                parts=(
                    call(
                        "Grep",
                        {"pattern": "time\\.time", "path": "/home/ada/clock/src"},
                        TextOutput("src/clock.py:11\nsrc/timer.py:7"),
                        result={
                            "mode": "content",
                            "numFiles": 2,
                            "content": "src/clock.py:11\nsrc/timer.py:7",
                        },
                    ),
                    INNER_AGENT,
                    TextPart("Two callers: `clock.py` and `timer.py`."),
                ),
                usage=Usage(input_tokens=2100, output_tokens=90),
            ),
            created_at=at(34),
        ),
    ),
)
DENIED = call(
    "Bash",
    {"command": "git push --force"},
    ExecutionDeniedOutput("not on a Friday"),
    id="denied",
    state="output-denied",
    approval=Approval(id="a1", approved=False, reason="not on a Friday"),
)
STOPPED = call(
    "Bash",
    {"command": "pytest --count 1000"},
    InterruptedOutput("aborted"),
    id="stopped",
    state="output-error",
)
WAITING = call(
    "Write",
    {"file_path": "/home/ada/clock/NOTES.md", "content": "# Notes\n\nThe clock is fine.\n"},
    None,
    state="approval-requested",
    approval=Approval(id="a2", request_reason="a new file"),
)
REASON = (
    "The test reads the wall clock, so it fails when a second ends in between. I should give the clock a "
    "source of time that the test can set. Who else reads it? If there is more than one caller, the source "
    "belongs into the constructor. Let me look before I change anything. Then run everything ten times, for "
    "a test that fails one time in ten needs more than one run to be believed. And the changelog may know "
    "when it began. That would tell whether it is the clock or the test that changed, which comes first."
)
TICKET = call(
    "mcp__tracker__create_issue",
    {"title": "Clock", "labels": ["bug"]},
    JsonOutput({"number": 7, "url": "/7"}),
)
ANSWER = """\
## Done

1. The clock takes its time from a *source*.
2. `pytest` is green:

```python
clock = Clock(now=lambda: 60)
```
"""

CODING: list[Message] = [
    SystemMessage(id="s1", content="You are a careful engineer.", created_at=at(0)),
    UserMessage(
        id="u1",
        content=[
            TextPart("The clock test fails one time in ten.\nFind out why, and fix it."),
            ImagePart(url=PICTURE, media_type="image/png", name="failure.png"),
        ],
        created_at=at(0),
    ),
    assistant_message(
        "m1",
        [
            StepStartPart(),
            ReasoningPart(text=REASON),
            TextPart("I'll run the test **first**:"),
            FAILURE,
            StepStartPart(),
            TODO,
            AGENT,
            EDIT,
        ],
        4,
        tokens=(12480, 860),
    ),
    SystemMessage(
        id="e1",
        type="event",
        internal=True,
        content=[DataPart(name="turn-duration", data={"durationMs": 41_000})],
        created_at=at(45),
    ),
    UserMessage(id="u2", content="Push it.", created_at=at(60)),
    assistant_message(
        "m2",
        [
            DENIED,
            STOPPED,
            WAITING,
            SourceUrlPart(source_id="s", url="https://docs.example/clock", title="Clocks"),
            FilePart(url="https://files.example/log.txt", media_type="text/plain", filename="log.txt"),
            TICKET,
            TextPart(ANSWER),
        ],
        62,
        tokens=(15900, 410),
    ),
]
