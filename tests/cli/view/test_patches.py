"""Changes of files, in the words of each agent."""

from partita.cli.view.calls import ready
from partita.cli.view.diffs import Change, Hunk, Line, compared
from partita.cli.view.patches import changes_of
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.tools import TextOutput
from tests.cli.view_drawing import FULL, LOOK, drawn_part
from tests.cli.view_threads import EDIT, call
from tests.tables import each_row

PATCH = """\
*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 x = 1
-y = 2
+y = 3
*** Add File: new.txt
+hello
+world
*** Delete File: old.txt
*** End Patch
"""
PATCHED = [
    Change(
        "src/a.py", (Hunk((Line(" ", "x = 1"), Line("-", "y = 2"), Line("+", "y = 3"))),), moved_to="src/b.py"
    ),
    Change("new.txt", (Hunk((Line("+", "hello"), Line("+", "world")), new=1),), "add"),
    Change("old.txt", (), "delete"),
]
UNIFIED = "Index: a\n--- a\n+++ a\n@@ -3,2 +3,2 @@\n x\n-y\n+z\n\\ No newline at end of file\n"
DIFF = (Hunk((Line(" ", "x"), Line("-", "y"), Line("+", "z")), 3, 3),)
WORDS = (Hunk((Line("-", "old"), Line("+", "new"))),)


def plain(name: str, given: Json, metadata: JsonObject | None = None) -> ToolCallPart:
    return ToolCallPart(
        id="c",
        name=name,
        state="output-available",
        input=given,
        output=TextOutput("ok"),
        tool_metadata=metadata,
    )


SOURCES: dict[str, tuple[ToolCallPart, list[Change]]] = {
    "an input that replaces": (
        plain("Edit", {"file_path": "a", "old_string": "old", "new_string": "new"}),
        [Change("a", WORDS)],
    ),
    "several at once": (
        plain("MultiEdit", {"file_path": "a", "edits": [{"old_string": "old", "new_string": "new"}] * 2}),
        [Change("a", WORDS * 2)],
    ),
    "a whole file": (
        plain("write", {"filePath": "a", "content": "one\n"}),
        [Change("a", (Hunk((Line("+", "one"),), new=1),))],
    ),
    "a file that Claude Code made": (
        plain(
            "Write",
            {"file_path": "a", "content": "one"},
            {
                "claudeCode": {
                    "toolUseResult": {
                        "type": "create",
                        "filePath": "a",
                        "content": "one",
                        "structuredPatch": [],
                    }
                }
            },
        ),
        [Change("a", (Hunk((Line("+", "one"),), new=1),), "add")],
    ),
    "Gemini CLI's own diff": (
        plain(
            "replace",
            {"file_path": "a"},
            {"geminiCli": {"resultDisplay": {"fileDiff": UNIFIED, "fileName": "a"}}},
        ),
        [Change("a", DIFF)],
    ),
    "a patch as the input": (plain("apply_patch", PATCH), PATCHED),
    "a patch in a member": (plain("apply_patch", {"input": PATCH}), PATCHED),
    "a patch in a command": (plain("shell", {"command": ["apply_patch", PATCH]}), PATCHED),
    "a patch in a here-document": (
        plain("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]}),
        PATCHED,
    ),
    "a patch that was cut": (
        plain("apply_patch", "*** Begin Patch\n*** Add File: a\n+x"),
        [Change("a", (Hunk((Line("+", "x"),), new=1),), "add")],
    ),
    "no change": (plain("Edit", {"file_path": "a"}), []),
}


@each_row(("part", "changes"), SOURCES.values(), ids=SOURCES)
def test_changes(part: ToolCallPart, changes: list[Change]) -> None:
    assert changes_of(ready(part, LOOK)) == changes


def test_hunks_with_their_numbers() -> None:
    assert (
        drawn_part(EDIT)
        == """\
  ✓ edit  src/clock.py  +2 -1
  │ 10       def tick(self) -> int:
  │ 11 -         now = time.time()
  │ 11 +         now = self._now()
  │ 12 +         assert now >= self._last, now
  │ 13           return int(now - self._start)
  │ 14
"""
    )


def test_several_files() -> None:
    assert (
        drawn_part(plain("shell", {"command": ["apply_patch", PATCH]}))
        == """\
  ✓ edit  3 files
  │ src/a.py → src/b.py  +1 -1
  │   x = 1
  │ - y = 2
  │ + y = 3
  │ new.txt new  +2
  │ 1 + hello
  │ 2 + world
  │ old.txt deleted
"""
    )


def test_a_long_change_is_folded_and_whole_on_request() -> None:
    part = call("Write", {"file_path": "/home/ada/clock/n", "content": "\n".join(map(str, range(100)))}, None)
    assert drawn_part(part).endswith("  │  24 + 23\n  │ … 76 more lines\n")
    assert drawn_part(part, FULL).endswith("  │ 100 + 99\n")


def test_texts_without_a_line_in_common_are_replaced() -> None:
    assert compared("", "a\n") == (Hunk((Line("+", "a"),)),)
    long = "\n".join(map(str, range(3000)))
    assert len(compared(long, "x")[0].lines) == 3001
