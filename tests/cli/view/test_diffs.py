"""Changes of files, drawn."""

from partita.types.json import Json
from partita.types.messages import ToolCallPart
from partita.types.parts import TextOutput
from tests.cli.view_drawing import FULL, drawn_part
from tests.cli.view_threads import EDIT, call

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


def plain(name: str, given: Json) -> ToolCallPart:
    return ToolCallPart(id="c", name=name, state="output-available", input=given, output=TextOutput("ok"))


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
