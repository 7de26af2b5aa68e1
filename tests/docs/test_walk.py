"""The walk finds the pages of the guides, does what they say, and stops at the first thing that is not so."""

import os
from pathlib import Path

import pytest

from docs.walk import AFTER, pages_of
from docs.walking.pages import follow
from docs.walking.stranger import Stranger, strange
from docs.walking.telling import Stumble

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


def at(place: Path, text: str) -> Stranger:
    """A stranger with one page."""
    clone = place / "clone"
    clone.mkdir()
    (clone / "page.md").write_text(text)
    return Stranger(place, clone, strange(os.environ))


def test_a_page_is_followed_from_top_to_bottom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    follow(
        at(tmp_path, PAGE.replace("{expected}", "high")),
        "page.md",
        tmp_path,
        lambda _, page: seen.append(page.name),
    )
    assert seen == ["page.md"]
    told = capsys.readouterr().out
    assert "$ cat one.txt" in told
    assert "passed over: make nothing" in told


def test_a_step_that_fails_is_told_with_its_page_and_line(tmp_path: Path) -> None:
    with pytest.raises(Stumble, match=r"^page\.md:11: \$ cat one\.txt\nwas to print\nlow water"):
        follow(at(tmp_path, PAGE.replace("{expected}", "low")), "page.md", tmp_path)


def test_every_page_of_the_guides_is_on_the_way() -> None:
    found = pages_of(ROOT)
    assert found[0] == "README.md"
    assert {*AFTER} <= {*found}
    guides = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*/*.md")}
    assert {page for page in guides if not page.startswith("docs/reference/")} <= {*found}
