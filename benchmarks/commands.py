"""What is the start-up cost of a command, in CPU time above that of the bare interpreter?"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .table import print_table

PROGRAM = "from partita.__main__ import main; main()"
COMPLETING = {"_PARTITA_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
COMMANDS: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "partita --version": (["--version"], {}),
    "partita --help": (["--help"], {}),
    "partita completion bash": (["completion", "bash"], {}),
    "partita config get serve.port": (["config", "get", "serve.port"], {}),
    "partita formats": (["formats"], {}),
    "partita threads": (["threads"], {}),
    "partita show ⇥": ([], {**COMPLETING, "COMP_WORDS": "partita show "}),
    "partita convert --to ⇥": ([], {**COMPLETING, "COMP_WORDS": "partita convert --to ", "COMP_CWORD": "3"}),
}
RUNS = 9


def milliseconds(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """The minimal CPU time of a new interpreter that runs a program."""
    return min(_once([sys.executable, "-c", program, *arguments], environment) for _ in range(RUNS))


def _once(command: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as home:
        store = str(Path(home, "store.db"))
        empty = {"PATH": os.environ["PATH"], "HOME": home, "PARTITA_STORE": store}
        bare = milliseconds("pass", [], empty)
        rows = [
            [name, f"{milliseconds(PROGRAM, arguments, {**empty, **more}) - bare:.0f}"]
            for name, (arguments, more) in COMMANDS.items()
        ]
    print_table(f"Commands (ms of CPU over the bare interpreter's {bare:.0f})", ["command", "ms"], rows)


if __name__ == "__main__":
    main()
