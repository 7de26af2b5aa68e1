"""Common code of the stand-in programs: reading and writing lines, and ways to misbehave.

The variable `STAND_IN` lists the behaviours, separated by commas.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

BEHAVIOUR = frozenset(filter(None, os.environ.get("STAND_IN", "").split(",")))
FLOOD = int(os.environ.get("STAND_IN_FLOOD", "0"))


def write_line(message: Any) -> None:
    """Write a line to standard output, and a copy for the test."""
    write(json.dumps(message).encode() + b"\n")


def write(data: bytes) -> None:
    record = os.environ.get("STAND_IN_RECORD")
    if record:
        with open(record, "ab") as file:  # noqa: PTH123
            file.write(data)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def read_line() -> dict[str, Any] | None:
    """The next line of standard input; `None` at its end."""
    line = sys.stdin.buffer.readline()
    record = os.environ.get("STAND_IN_HEARD")
    if record and line:
        with open(record, "ab") as file:  # noqa: PTH123
            file.write(line)
    return json.loads(line) if line.strip() else None


def misbehave() -> None:
    """Misbehave within a turn, as requested."""
    if "stderr" in BEHAVIOUR:
        print("careful: the paint is wet", file=sys.stderr, flush=True)
    if "stderr-flood" in BEHAVIOUR:
        sys.stderr.write("drip " * (FLOOD // 5))
        sys.stderr.flush()
    if "bad-json" in BEHAVIOUR:
        write(b"this is {no JSON\n")
    if "blank" in BEHAVIOUR:
        write(b"\n\r\n")
    if "crash" in BEHAVIOUR:
        print("the brush broke", file=sys.stderr, flush=True)
        os._exit(3)
    if "half-line" in BEHAVIOUR:
        write(b'{"type": "half')
        os._exit(0)
    if "mute" in BEHAVIOUR:  # closes its output and keeps running
        os.close(1)
        time.sleep(600)
    if "hang" in BEHAVIOUR:
        hang()


def hang() -> None:
    """Keep running despite all signals, with a child in the group and one in a new session."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    code = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)"
    children = [
        subprocess.Popen([sys.executable, "-c", code]),
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True),
    ]
    write_pids([os.getpid(), *(child.pid for child in children)])
    time.sleep(600)


def write_pids(pids: list[int]) -> None:
    """Write the process ids for the test."""
    place = os.environ["STAND_IN_PIDS"]
    with open(f"{place}.part", "w") as file:  # noqa: PTH123
        json.dump(pids, file)
    os.rename(f"{place}.part", place)  # noqa: PTH104
