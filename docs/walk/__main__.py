"""Follows the README and the guides like a new user: in a fresh clone, with an empty home.

    python -m docs.walk                  the README, the wheel in a new environment, all guides
    python -m docs.walk --all            also `make test`
    python -m docs.walk --uncommitted    with changes that are not committed
    python -m docs.walk PAGE …           the wheel and these pages only

Every file of a page is written and every command is run, in order. Commands that serve keep running until the
page ends. The web apps of the guides are used in Chromium, and the configurations of proxies are checked with
real nginx and Caddy. The first step that fails ends the walk-through, with its page and line.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import blocks_of
from tests.docs.command_checks import read_commands

from .chat import check_chat, check_ports, check_quick_start
from .clean_machine import CleanMachine, create_machine, install_package
from .page_runner import Check, run_page
from .progress import StepError, report
from .proxies import check_proxies
from .server import check_demo, running_server

ROOT = Path(__file__).resolve().parents[2]
FIRST = ("README.md", "docs/apps/start.md", "docs/sessions/index.md")
GUIDES = ("docs/apps", "docs/sessions")
OTHERS = ("docs/server.md", "docs/migrating.md")
BROWSER_CHECKS: dict[str, Check] = {"docs/apps/start.md": check_chat, "docs/server.md": check_quick_start}
CHECKS: dict[str, Check] = {**BROWSER_CHECKS, "docs/apps/deployment.md": check_proxies}
"""Checks of pages while their servers still run."""


def main() -> None:
    """Run the walk-through, and exit with an error if a step fails."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.walk", description="Follow the README and the guides like a new user."
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages")
    parser.add_argument("--all", action="store_true", help="also run `make test`")
    parser.add_argument("--uncommitted", action="store_true", help="include changes that are not committed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="partita-walk-", ignore_cleanup_errors=True) as folder:
        try:
            machine = create_machine(ROOT, Path(folder).resolve(), uncommitted=options.uncommitted)
            walk(machine, options.pages, tests=options.all)
        except (StepError, subprocess.SubprocessError) as error:
            report(str(error))
            sys.exit("the walk-through failed")
    report("the walk-through is complete")


def walk(machine: CleanMachine, pages: list[str], *, tests: bool) -> None:
    """Run the `make` commands of the README, install the wheel, then run the pages."""
    chosen = pages or pages_of(machine.clone)
    if BROWSER_CHECKS.keys() & {*chosen}:
        check_ports()
    if not pages:
        run_make(machine, tests=tests)
    constraints = install_package(machine)
    if not pages:
        check_serve(f"{machine.programs}/partita serve", machine.folder, machine)
    if BROWSER_CHECKS.keys() & {*chosen}:  # the scripts use Playwright
        command = ["make", "--silent", "web/node_modules/.test"]
        subprocess.run(command, cwd=machine.clone, env=machine.environment, check=True)
    for page in chosen:
        run_page(machine, page, constraints, CHECKS.get(page))


def run_make(machine: CleanMachine, *, tests: bool) -> None:
    """Run the `make` commands of the README in the clone."""
    blocks = [block for block in blocks_of(machine.clone / "README.md") if block.language == "sh"]
    lines = [line.partition("#")[0].strip() for block in blocks for line in read_commands(block.text)]
    for command in lines:
        if command == "make run":
            check_serve(command, machine.clone, machine)
        elif command == "make test" and not tests:
            report(f"skipped: {command}")
        elif command.startswith("make "):
            report(f"$ {command}")
            subprocess.run(command, shell=True, cwd=machine.clone, env=machine.environment, check=True)


def check_serve(command: str, folder: Path, machine: CleanMachine) -> None:
    """Run a command that serves, and check what it serves."""
    report(f"$ {command}")
    with running_server(shlex.split(command), machine.environment, folder) as (address, token):
        check_demo(address, token)


def pages_of(clone: Path) -> list[str]:
    """Return the pages to run, in the order in which a new user opens them."""
    found = [
        str(path.relative_to(clone)) for guide in GUIDES for path in sorted((clone / guide).glob("*.md"))
    ]
    listed = [*FIRST, *found, *OTHERS]
    return list(dict.fromkeys(page for page in listed if (clone / page).exists()))


if __name__ == "__main__":
    main()
