"""Write the generated pages anew: `python -m docs.generating`."""

from pathlib import Path

from .pages import PAGES

DOCS = Path(__file__).parent.parent


def main() -> None:
    """Write every page, and say which ones changed."""
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"docs/{name} is new")


if __name__ == "__main__":
    main()
