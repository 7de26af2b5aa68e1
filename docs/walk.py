"""Follows the README and the guides as a stranger would: a fresh clone, an empty home, and what is written.

    python -m docs.walk               the README, the wheel in an empty environment, every page of the guides
    python -m docs.walk --all         `make test` too
    python -m docs.walk --as-it-is    with what is not committed yet
    python -m docs.walk PAGE …        these pages alone, with the wheel

Every file of a page is written and every command run, in order, in a home of its own. A command that serves
is waited for until it says so. The chat of the guide is used in Chromium, the configurations of proxies are
tried with the real programs. The first step that fails ends the walk, with its page and line.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import blocks_of
from tests.docs.sh import read_commands

from .walking.chat import check_ports, use_chat
from .walking.pages import After, follow
from .walking.proxies import try_proxies
from .walking.serving import visit
from .walking.stranger import Stranger, arrive, install
from .walking.telling import Stumble, say

ROOT = Path(__file__).resolve().parent.parent
FIRST = ("README.md", "docs/apps/start.md", "docs/sessions/index.md")
GUIDES = ("docs/apps", "docs/sessions")
OTHERS = ("docs/migrating.md",)
SERVES = "make run"
LONG = "make test"
AFTER: dict[str, After] = {"docs/apps/start.md": use_chat, "docs/apps/deployment.md": try_proxies}


def main() -> None:
    """Walk, and say at every step what was seen."""
    parser = argparse.ArgumentParser(description="Follow the README and the guides as a stranger would.")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--all", action="store_true", help="`make test` too")
    parser.add_argument("--as-it-is", action="store_true", help="with what is not committed yet")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="partita-walk-", ignore_cleanup_errors=True) as place:
        try:
            walk(
                arrive(ROOT, Path(place).resolve(), as_it_is=chosen.as_it_is), chosen.pages, tests=chosen.all
            )
        except (Stumble, subprocess.SubprocessError) as stumble:
            say(str(stumble))
            sys.exit("the walk ends here")
    say("the walk is done")


def walk(stranger: Stranger, pages: list[str], *, tests: bool) -> None:
    """The README's `make` commands in the clone, the wheel, then the pages."""
    wanted = pages or pages_of(stranger.clone)
    if "docs/apps/start.md" in wanted:
        check_ports()
    if not pages:
        make(stranger, tests=tests)
    constraints = install(stranger)
    if not pages:
        path = f"{stranger.programs}:{stranger.surroundings['PATH']}"
        visit("partita serve", stranger.place, {**stranger.surroundings, "PATH": path})
    elif any(page in AFTER for page in wanted):
        subprocess.run(
            ["npm", "ci", "--silent"], cwd=stranger.clone / "web", env=stranger.surroundings, check=True
        )
    for page in wanted:
        follow(stranger, page, constraints, AFTER.get(page))


def make(stranger: Stranger, *, tests: bool) -> None:
    """What the README says to those who have the repository."""
    blocks = [block for block in blocks_of(stranger.clone / "README.md") if block.language == "sh"]
    lines = [line.partition("#")[0].strip() for block in blocks for line in read_commands(block.text)]
    for command in lines:
        if command == SERVES:
            visit(command, stranger.clone, stranger.surroundings)
        elif command == LONG and not tests:
            say(f"passed over: {command}")
        elif command.startswith("make "):
            say(f"$ {command}")
            subprocess.run(command, shell=True, cwd=stranger.clone, env=stranger.surroundings, check=True)


def pages_of(clone: Path) -> list[str]:
    """The pages to follow, in the order in which a stranger would open them."""
    found = [
        str(path.relative_to(clone)) for guide in GUIDES for path in sorted((clone / guide).glob("*.md"))
    ]
    listed = [*FIRST, *found, *OTHERS]
    return list(dict.fromkeys(page for page in listed if (clone / page).exists()))


if __name__ == "__main__":
    main()
