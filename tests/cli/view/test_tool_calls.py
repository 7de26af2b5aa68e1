"""Rendering of each kind of tool call."""

from pathlib import Path

from partita.types.codec import Codec
from partita.types.json import JsonObject, loads
from partita.types.messages import ToolCallPart, UserMessage
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
)
from tests.cli.rendering import DEFAULT, FULL, render_part
from tests.cli.sample_threads import DENIED, PICTURE, STOPPED, TICKET, TODO, WAITING, call
from tests.tables import each_row

FILE = {
    "filePath": "/home/ada/clock/a.py",
    "content": "import os\nx = 1\n",
    "startLine": 8,
    "numLines": 2,
    "totalLines": 90,
}
RESULTS = [
    "Two pages:",
    {"tool_use_id": "t", "content": [{"title": "Clocks", "url": "https://a.example/clocks"}]},
]

DRAWINGS: dict[str, tuple[ToolCallPart, str]] = {
    "a to-do list": (
        TODO,
        """\
  ✓ to do  1 of 3 done
  │ [x] Find the flaky test
  │ [>] Give the clock a source of time
  │ [ ] Run all tests ten times
""",
    ),
    "a plan of Codex": (
        call(
            "update_plan",
            {"explanation": "In steps", "plan": [{"step": "ViewContext", "status": "completed"}]},
            None,
            state="input-available",
        ),
        """\
  … to do  In steps  no result  1 of 1 done
  │ [x] ViewContext
""",
    ),
    "a file that was read": (
        call(
            "Read",
            {"file_path": "/home/ada/clock/a.py", "offset": 8},
            TextOutput("…"),
            result={"type": "text", "file": FILE},
        ),
        """\
  ✓ read  a.py (lines 8–9 of 90)
  │  8  import os
  │  9  x = 1
""",
    ),
    "an image that was read": (
        call("Read", {"file_path": "/p.png"}, ContentOutput((ImagePart(PICTURE, "image/png"),))),
        """\
  ✓ read  /p.png
  │ ▣ image  image/png · 3.4 KB
""",
    ),
    "a search": (
        call(
            "Grep", {"pattern": "now", "glob": "*.py"}, TextOutput("a.py:1\nb.py:2"), result={"numFiles": 2}
        ),
        """\
  ✓ search  “now” (*.py)  3 found
  │ a.py:1
  │ b.py:2
""",
    ),
    "a search without matches": (
        call("Glob", {"pattern": "*.rs"}, TextOutput("No files found")),
        "  ✓ find files  “*.rs”  nothing found\n",
    ),
    "a page": (
        call(
            "WebFetch",
            {"url": "https://a.example/", "prompt": "What is it?"},
            TextOutput("A clock."),
            result={"code": 200, "bytes": 85_000},
        ),
        """\
  ✓ fetch  https://a.example/  200 · 85 KB
  │ What is it?
  │ A clock.
""",
    ),
    "a web search": (
        call(
            "WebSearch", {"query": "clocks"}, TextOutput("…"), result={"query": "clocks", "results": RESULTS}
        ),
        """\
  ✓ web search  “clocks”
  │ Clocks
  │   https://a.example/clocks
""",
    ),
    "a question": (
        call(
            "AskUserQuestion",
            {
                "questions": [
                    {
                        "question": "Which clock?",
                        "options": [{"label": "Wall", "description": "on the wall"}, {"label": "Sand"}],
                    }
                ]
            },
            TextOutput("…"),
            result={"answers": {"Which clock?": "Sand"}},
        ),
        """\
  ✓ question
  │ Which clock?
  │ - Wall: on the wall
  │ - Sand
  │ → Sand
""",
    ),
    "an MCP tool": (
        TICKET,
        """\
  ✓ tracker: create_issue
  │ title: Clock
  │ labels: bug
  │ → number: 7
  │   url: /7
""",
    ),
    "a short input is in the title": (
        call("measure", {"what": "lighthouse", "unit": "m"}, TextOutput("41")),
        """\
  ✓ measure  what: "lighthouse", unit: "m"
  │ → 41
""",
    ),
    "JSON as text is JSON": (
        call("look", {}, TextOutput('{"rooms":[{"name":"hall","doors":2}]}')),
        """\
  ✓ look
  │ → rooms:
  │     - name: hall, doors: 2
""",
    ),
    "content of several kinds": (
        call(
            "look",
            {},
            ContentOutput((TextPart("See:"), ImagePart("https://x.example/p"), ForeignPart("mcp", {"a": 1}))),
        ),
        """\
  ✓ look
  │ → See:
  │ ▣ image  https://x.example/p
  │ ? mcp  {"a":1}
""",
    ),
    "a value instead of text": (
        call("Read", {"file_path": "/x"}, JsonOutput({"pages": 2})),
        """\
  ✓ read  /x
  │ pages: 2
""",
    ),
    "a command that returned a value": (
        call("bash", {"command": "x"}, JsonOutput({"pid": 7})),
        """\
  ✓ $ x
  │ pid: 7
""",
    ),
    "a sub-agent of an unknown tool": (
        call("delegate", {"to": "bob"}, TextOutput("ok"), children=(UserMessage(id="u", content="Go."),)),
        """\
  ✓ agent delegate  to: bob
  │ ⤷ 1 message, 0 calls; --full shows them
  │ → ok
""",
    ),
    "denied with a reason": (DENIED, "  ⊘ $ git push --force  denied\n  │ not on a Friday\n"),
    "stopped": (STOPPED, "  ■ $ pytest --count 1000  interrupted\n"),
    "timed out": (
        call("x", {}, InterruptedOutput("timeout", "after 30 s")),
        "  ■ x  interrupted: timeout\n  │ after 30 s\n",
    ),
    "waiting": (
        WAITING,
        """\
  ? write  NOTES.md  +3  waiting for approval
  │ a new file
  │ 1 + # Notes
  │ 2 +
  │ 3 + The clock is fine.
""",
    ),
    "failed with text": (
        call("look", {}, ErrorTextOutput("too dark"), state="output-error"),
        "  ✗ look  failed\n  │ too dark\n",
    ),
    "failed with JSON": (
        call("look", {}, ErrorJsonOutput({"code": 7}), state="output-error"),
        "  ✗ look  failed\n  │ code: 7\n",
    ),
    "approved": (
        call("look", {}, TextOutput("ok"), approval=Approval(id="a", approved=True)),
        "  ✓ look  approved by the user\n  │ → ok\n",
    ),
    "not approved": (
        call(
            "look",
            {},
            None,
            state="approval-responded",
            approval=Approval(id="a", approved=False, reason="no"),
        ),
        "  ⊘ look  denied\n  │ no\n",
    ),
    "denied without a reason": (
        call("look", {}, ExecutionDeniedOutput(), state="output-denied"),
        "  ⊘ look  denied\n",
    ),
    "an incomplete input": (
        ToolCallPart(id="c", name="look", state="input-streaming", raw_input='{"whe'),
        '  … look  incomplete input\n  │ {"whe\n',
    ),
    "a preliminary output": (
        call("look", {}, TextOutput("12 %"), preliminary=True),
        "  … look  still running\n  │ → 12 %\n",
    ),
}


@each_row(("part", "shown"), DRAWINGS.values(), ids=DRAWINGS)
def test_call_is_rendered(part: ToolCallPart, shown: str) -> None:
    assert render_part(part) == shown


UNEXPECTED = ["text", 7, None, True, [], [1], {"a": None}]


@each_row("name", ["Bash", "Edit", "Read", "Grep", "TodoWrite", "WebSearch", "AskUserQuestion", "Agent", "x"])
@each_row("value", UNEXPECTED, ids=repr)
def test_unexpected_input_and_result_are_rendered(name: str, value: object) -> None:
    assert render_part(call(name, value, JsonOutput(value), result=value), FULL).startswith("  ✓ ")
    members = (
        "command",
        "todos",
        "questions",
        "edits",
        "file",
        "results",
        "answers",
        "structuredPatch",
        "filenames",
    )
    members_with_value = dict.fromkeys(members, value)
    part = call(name, members_with_value, JsonOutput(members_with_value), result=members_with_value)
    assert render_part(part).startswith("  ")


def test_deeply_nested_value_is_folded_unless_full() -> None:
    value: object = 1
    for _ in range(400):
        value = {"a": [value]}
    part = call("look", {"where": value}, JsonOutput(value))
    assert render_part(part).count("\n") < 30
    assert render_part(part, FULL).count("a:") > 700


@each_row(
    ("command", "shown"),
    [
        ("cd /home/ada/clock && make", "make"),
        ('cd "/home/ada/clock/" && make', "make"),
        ("cd /home/ada && make", "make  in /home/ada"),
    ],
)
def test_command_is_shown_without_a_cd_to_its_folder(command: str, shown: str) -> None:
    assert render_part(call("Bash", {"command": command}, TextOutput("ok"))).startswith(f"  ✓ $ {shown}\n")


CASES: dict[str, JsonObject] = loads((Path(__file__).parents[2] / "views" / "tool_calls.json").read_bytes())


@each_row("case", CASES.values(), ids=CASES)
def test_title_of_every_tool_view_is_rendered(case: JsonObject) -> None:
    part = Codec(ToolCallPart).read(case["call"])
    for context in (DEFAULT, FULL):
        first, *_ = render_part(part, context, width=200).split("\n")
        subject = str(case["view"].get("subject", ""))
        assert case["view"]["title"].lower() in first.lower() or subject in first


CASE_DRAWINGS: dict[str, str] = {
    "Codex: a patch of three files": """\
  ✓ edit  3 files
  │ bakery/oven.py  +1 -1
  │ -     def heat(self, degrees):
  │ +     def heat(self, degrees: int) -> None:
  │           self.degrees = degrees
  │ bakery/dough.py new  +2
  │ 1 + class Dough:
  │ 2 +     rested = False
  │ bakery/stale.py deleted
""",
    "ACP: diffs": """\
  ✓ edit  2 files
  │ a.py  +1 -1
  │ - x = 1
  │ + x = 2
  │ b.py new  +1
  │ 1 + y = 1
""",
    "ACP: a command in a terminal": """\
  ✗ $ ls  exit 1
  │ a.py
""",
    "OpenCode: a file": """\
  ✓ read  a
  │ 3  a
  │ 4
  │ 5  b
""",
    "Claude Code: a search with context": """\
  ✓ search  “heat\\(”  3 found
  │ bakery/oven.py:12:    def heat(self, degrees):
  │ bakery/oven.py-13-        self.degrees = degrees
  │ bakery/oven.py:40:        self.heat(220)
  │ tests/test_oven.py:7:    oven.heat(180)
""",
    "Claude Code: lines without numbers": """\
  ✓ search  “x” in a.py  4 found
  │ x = 1
  │ print(x)
  │ if x:
  │   pass
""",
    "Gemini CLI: matches": """\
  ✓ search  “x” in *.py  2 found
  │ a.py:3:x
  │ a.py:4:xy
  │ a.py-5-y
""",
    "Codex: two questions": """\
  ✓ 2 questions
  │ Which?
  │ - a
  │ - b
  │ → a, b
  │ When?
""",
    "Claude Code: a plan": """\
  ✓ plan
  │ # The plan
  │
  │ 1. **Mix**
  │ 2. Bake
""",
    "Mastra: a network execution": """\
  ✓ pastry-chef  Bake a cake  agent · turn 0
  │ The cake is **done**.
""",
    "Codex: a sub-agent": """\
  ✓ agent worker
  │ Do it.
  │ → {"agent_id":"1"}
""",
}


@each_row(("name", "shown"), CASE_DRAWINGS.items(), ids=CASE_DRAWINGS)
def test_tool_view_is_rendered(name: str, shown: str) -> None:
    assert render_part(Codec(ToolCallPart).read(CASES[name]["call"])) == shown
