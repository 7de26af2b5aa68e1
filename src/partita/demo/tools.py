"""Tools of the demo agents. They only return fixed results."""

from typing import Final

import msgspec

from partita.runtime.tools.tool import client_tool, tool
from partita.types.json import Json


@tool
def get_weather(city: str) -> dict[str, Json]:
    """Get the weather in a city. The result is always the same.

    Args:
        city: The name of the city.
    """
    return {"city": city, "sky": "clear", "celsius": 4, "wind": {"from": "north-west", "metresPerSecond": 7}}


@tool(approval="always")
def send_postcard(to: str, text: str) -> str:
    """Send a postcard. It requires approval; nothing is really sent.

    Args:
        to: The recipient.
        text: The text.
    """
    return f"A postcard with {len(text.split())} words is on its way to {to}."


LOCAL_TIME: Final = client_tool("get_local_time", "Get the local time of the client.")

RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
BOLD: Final = "\x1b[1m"
PLAIN: Final = "\x1b[0m"
HEAD: Final = f"{BOLD}{' test session starts ':=^60}{PLAIN}\ncollected 3 items\n\ntests/test_lamp.py "

FAILED_TESTS: Final = (
    f"{HEAD}{GREEN}.{RED}F{GREEN}.{PLAIN}{'[100%]':>38}\n\n"
    f"{RED}{BOLD}{' test_reach ':_^60}{PLAIN}\n"
    f"{RED}{BOLD}E       assert 22.9 == 27.9{PLAIN}\n\n"
    f"{RED}tests/test_lamp.py{PLAIN}:12: AssertionError\n"
    f"{RED}{BOLD}1 failed{PLAIN}, {GREEN}2 passed{PLAIN} in 0.12s\n"
)
PASSED_TESTS: Final = f"{HEAD}{GREEN}...{PLAIN}{'[100%]':>38}\n\n{GREEN}{BOLD}3 passed{PLAIN} in 0.09s\n"


@tool
def bash(command: str, description: str = "") -> dict[str, Json]:
    """Run a command. Nothing is really run; with `--last-failed`, the tests pass.

    Args:
        command: The command.
        description: What it does.
    """
    fixed = "--last-failed" in command
    return {"stdout": PASSED_TESTS if fixed else FAILED_TESTS, "stderr": "", "exitCode": 0 if fixed else 1}


@tool
def edit(file_path: str, old_string: str, new_string: str) -> str:
    """Replace text in a file. Nothing is really written.

    Args:
        file_path: The file.
        old_string: The text to replace.
        new_string: The new text.
    """
    changed = len(new_string.splitlines()) - len(old_string.splitlines())
    return f"{file_path} has been changed ({changed:+d} lines)."


class Item(msgspec.Struct):
    """A to-do item."""

    content: str
    status: str


@tool
def todo_write(todos: list[Item]) -> str:
    """Write the to-do list.

    Args:
        todos: All items.
    """
    done = sum(item.status == "completed" for item in todos)
    return f"{done} of {len(todos)} done."


@tool
def read_log(day: int) -> str:
    """Read a day in the log book of a lighthouse.

    Args:
        day: The number of the day.
    """
    return f"Day {day}: {day * 3} ships, {day} birds, one cloud. The lamp burned from dusk to dawn."


TOOLS: Final = (get_weather, send_postcard, LOCAL_TIME, bash, edit, todo_write)
