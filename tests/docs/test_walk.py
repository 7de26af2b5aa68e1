"""The walk-through finds the guides, runs their pages, and stops at the first step that fails."""

import os
from pathlib import Path

import pytest

from docs.walk.__main__ import CHECKS, pages_of
from docs.walk.clean_machine import CleanMachine, clean_environment
from docs.walk.page_runner import run_page
from docs.walk.progress import StepError

from .blocks import ROOT

PAGE = """
```text file=examples/chat/notes/one.txt
high water
```

```sh walk
mkdir inner && cp notes/one.txt inner && cd inner
make nothing
```

```console walk
$ cat one.txt
{expected} water
```

```sh elsewhere
false
```
"""


def machine_with(text: str, folder: Path) -> CleanMachine:
    """A machine whose clone has one page."""
    clone = folder / "clone"
    clone.mkdir()
    (clone / "page.md").write_text(text)
    return CleanMachine(folder, clone, clean_environment(os.environ))


def test_a_page_is_run_from_top_to_bottom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked: list[str] = []
    machine = machine_with(PAGE.replace("{expected}", "high"), tmp_path)
    run_page(machine, "page.md", tmp_path, lambda _, page: checked.append(page.name))
    assert checked == ["page.md"]
    output = capsys.readouterr().out
    assert "$ cat one.txt" in output
    assert "skipped: make nothing" in output


def test_a_step_that_fails_is_reported_with_page_and_line(tmp_path: Path) -> None:
    machine = machine_with(PAGE.replace("{expected}", "low"), tmp_path)
    with pytest.raises(StepError, match=r"^page\.md:11: \$ cat one\.txt\nexpected\nlow water"):
        run_page(machine, "page.md", tmp_path)


def test_the_walk_through_includes_every_guide() -> None:
    found = pages_of(ROOT)
    assert found[0] == "README.md"
    assert {*CHECKS} <= {*found}
    guides = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*/*.md")}
    assert {page for page in guides if not page.startswith("docs/reference/")} <= {*found}
