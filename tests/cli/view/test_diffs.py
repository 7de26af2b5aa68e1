"""Rendering of file changes."""

from partita.types.json import Json
from partita.types.messages import ToolCallPart
from partita.types.parts import TextOutput
from tests.cli.rendering import FULL, render_part
from tests.cli.sample_threads import EDIT, call

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


def completed(name: str, given: Json) -> ToolCallPart:
    return ToolCallPart(id="c", name=name, state="output-available", input=given, output=TextOutput("ok"))


def test_hunk_has_line_numbers() -> None:
    assert (
        render_part(EDIT)
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


def test_each_changed_file_has_a_title() -> None:
    assert (
        render_part(completed("shell", {"command": ["apply_patch", PATCH]}))
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


def test_long_change_is_folded_unless_full() -> None:
    part = call("Write", {"file_path": "/home/ada/clock/n", "content": "\n".join(map(str, range(100)))}, None)
    assert render_part(part).endswith("  │  24 + 23\n  │ … 76 more lines\n")
    assert render_part(part, FULL).endswith("  │ 100 + 99\n")
