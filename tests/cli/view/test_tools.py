"""Each kind of tool, drawn for what it is."""

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
from tests.cli.view_drawing import FULL, LOOK, drawn_part
from tests.cli.view_threads import DENIED, PICTURE, STOPPED, TICKET, TODO, WAITING, call
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
            {"explanation": "In steps", "plan": [{"step": "Look", "status": "completed"}]},
            None,
            state="input-available",
        ),
        """\
  … to do  In steps  no result  1 of 1 done
  │ [x] Look
""",
    ),
    "a file that was read": (
        call(
            "Read",
            {"file_path": "/home/ada/clock/a.py", "offset": 8},
            TextOutput("…"),
            told={"type": "text", "file": FILE},
        ),
        """\
  ✓ read  a.py (lines 8–9 of 90)
  │  8  import os
  │  9  x = 1
""",
    ),
    "a picture that was read": (
        call("Read", {"file_path": "/p.png"}, ContentOutput((ImagePart(PICTURE, "image/png"),))),
        """\
  ✓ read  /p.png
  │ ▣ image  image/png · 3.4 KB
""",
    ),
    "a search": (
        call("Grep", {"pattern": "now", "glob": "*.py"}, TextOutput("a.py:1\nb.py:2"), told={"numFiles": 2}),
        """\
  ✓ search  “now” (*.py)  2 found
  │ a.py:1
  │ b.py:2
""",
    ),
    "a search for nothing": (
        call("Glob", {"pattern": "*.rs"}, TextOutput("No files found")),
        "  ✓ find files  “*.rs”  nothing found\n",
    ),
    "a page": (
        call(
            "WebFetch",
            {"url": "https://a.example/", "prompt": "What is it?"},
            TextOutput("A clock."),
            told={"code": 200, "bytes": 85_000},
        ),
        """\
  ✓ fetch  https://a.example/  200 · 85 KB
  │ What is it?
  │ A clock.
""",
    ),
    "a search of the web": (
        call("WebSearch", {"query": "clocks"}, TextOutput("…"), told={"query": "clocks", "results": RESULTS}),
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
            told={"answers": {"Which clock?": "Sand"}},
        ),
        """\
  ✓ question
  │ Which clock?
  │ - Wall: on the wall
  │ - Sand
  │ → Sand
""",
    ),
    "a tool behind MCP": (
        TICKET,
        """\
  ✓ tracker: create_issue
  │ title: Clock
  │ labels: bug
  │ → number: 7
  │   url: /7
""",
    ),
    "a short input stands in the title": (
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
    "a value where words are expected": (
        call("Read", {"file_path": "/x"}, JsonOutput({"pages": 2})),
        """\
  ✓ read  /x
  │ pages: 2
""",
    ),
    "a command that gave a value": (
        call("bash", {"command": "x"}, JsonOutput({"pid": 7})),
        """\
  ✓ $ x
  │ pid: 7
""",
    ),
    "a sub-agent of a tool nobody knows": (
        call("delegate", {"to": "bob"}, TextOutput("ok"), children=(UserMessage(id="u", content="Go."),)),
        """\
  ✓ agent delegate  to: bob
  │ ⤷ 1 message, 0 calls; --full shows them
  │ → ok
""",
    ),
    "denied, and why": (DENIED, "  ⊘ $ git push --force  denied\n  │ not on a Friday\n"),
    "stopped": (STOPPED, "  ■ $ pytest --count 1000  interrupted: someone stopped it\n"),
    "too slow": (
        call("x", {}, InterruptedOutput("timeout", "after 30 s")),
        "  ■ x  interrupted: it took too long\n  │ after 30 s\n",
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
    "failed in words": (
        call("look", {}, ErrorTextOutput("too dark"), state="output-error"),
        "  ✗ look  failed\n  │ too dark\n",
    ),
    "failed in JSON": (
        call("look", {}, ErrorJsonOutput({"code": 7}), state="output-error"),
        "  ✗ look  failed\n  │ code: 7\n",
    ),
    "approved": (
        call("look", {}, TextOutput("ok"), approval=Approval(id="a", approved=True)),
        "  ✓ look  approved by the user\n  │ → ok\n",
    ),
    "answered with no": (
        call(
            "look",
            {},
            None,
            state="approval-responded",
            approval=Approval(id="a", approved=False, reason="no"),
        ),
        "  ⊘ look  denied\n  │ no\n",
    ),
    "no reason given": (
        call("look", {}, ExecutionDeniedOutput(), state="output-denied"),
        "  ⊘ look  denied\n",
    ),
    "half an input": (
        ToolCallPart(id="c", name="look", state="input-streaming", raw_input='{"whe'),
        '  … look  its input is not whole\n  │ {"whe\n',
    ),
    "an output to come": (
        call("look", {}, TextOutput("12 %"), preliminary=True),
        "  … look  still at work\n  │ → 12 %\n",
    ),
}


@each_row(("part", "shown"), DRAWINGS.values(), ids=DRAWINGS)
def test_drawing(part: ToolCallPart, shown: str) -> None:
    assert drawn_part(part) == shown


ODD = ["text", 7, None, True, [], [1], {"a": None}]


@each_row("name", ["Bash", "Edit", "Read", "Grep", "TodoWrite", "WebSearch", "AskUserQuestion", "Agent", "x"])
@each_row("odd", ODD, ids=repr)
def test_a_tool_whose_input_and_result_are_not_as_they_should_be(name: str, odd: object) -> None:
    assert drawn_part(call(name, odd, JsonOutput(odd), told=odd), FULL).startswith("  ✓ ")
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
    whole = dict.fromkeys(members, odd)
    assert drawn_part(call(name, whole, JsonOutput(whole), told=whole)).startswith("  ")


def test_a_value_that_nests_deeply() -> None:
    value: object = 1
    for _ in range(400):
        value = {"a": [value]}
    part = call("look", {"where": value}, JsonOutput(value))
    assert drawn_part(part).count("\n") < 30
    assert drawn_part(part, FULL).count("a:") > 700


CASES: dict[str, JsonObject] = loads((Path(__file__).parents[2] / "views" / "tool_calls.json").read_bytes())


@each_row("case", CASES.values(), ids=CASES)
def test_every_call_of_the_table_is_drawn(case: JsonObject) -> None:
    part = Codec(ToolCallPart).read(case["call"])
    for look in (LOOK, FULL):
        first, *_ = drawn_part(part, look, width=200).split("\n")
        subject = str(case["view"].get("subject", ""))
        assert case["view"]["title"].lower() in first.lower() or subject in first


MORE: dict[str, str] = {
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
    "Mastra: a turn of a network": """\
  ✓ pastry-chef  Bake a cake  agent · turn 0
  │ The cake is **done**.
""",
    "Codex: a sub-agent": """\
  ✓ agent worker
  │ Do it.
  │ → {"agent_id":"1"}
""",
}


@each_row(("name", "shown"), MORE.items(), ids=MORE)
def test_drawing_of_a_kind(name: str, shown: str) -> None:
    assert drawn_part(Codec(ToolCallPart).read(CASES[name]["call"])) == shown
