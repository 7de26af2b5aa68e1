"""Write the generated pages anew: `python -m docs.generating`."""

from pathlib import Path

from .format_pages import FOLDER
from .navigation import SITE, with_formats
from .pages import PAGES

DOCS = Path(__file__).parent.parent


def main() -> None:
    """Write every page, and say which ones changed; take away those of formats that are gone."""
    for name, make in PAGES.items():
        _write(DOCS / name, make())
    for path in (DOCS / FOLDER).glob("*.md"):
        if path.relative_to(DOCS).as_posix() not in PAGES:
            path.unlink()
            print(f"{path.relative_to(DOCS.parent)} is gone")
    _write(SITE, with_formats(SITE.read_text("utf-8")))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"{path.relative_to(DOCS.parent)} is new")


if __name__ == "__main__":
    main()
