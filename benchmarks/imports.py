"""What does `import partita` cost, in CPU time above that of the bare interpreter?"""

import resource
import subprocess
import sys

from .table import print_table

STATEMENTS = {
    "nothing": "pass",
    "import partita": "import partita",
    "… and an Accumulator": "from partita import Accumulator; Accumulator()",
    "… and every public name": "from partita import *",
    "import msgspec": "import msgspec",
    "import pydantic, and one model": "import pydantic\nclass M(pydantic.BaseModel): x: int",
}
RUNS = 15


def milliseconds(statement: str) -> float:
    """The minimal CPU time of a new interpreter that runs a statement."""
    return min(_once(statement) for _ in range(RUNS))


def _once(statement: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main() -> None:
    """Measure and print."""
    bare = milliseconds("pass")
    rows = [[name, f"{milliseconds(code) - bare:.0f}"] for name, code in STATEMENTS.items()]
    print_table(f"Imports (ms of CPU over the bare interpreter's {bare:.0f})", ["statement", "ms"], rows)


if __name__ == "__main__":
    main()
