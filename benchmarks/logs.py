"""How fast are logs read and imported? All tools get the same files in one run.

    python -m benchmarks.logs [FOLDER]     (default: generated sessions; FOLDER: with those of Claude Code)

Rivals are measured when they are there: `agentsview` and `claude-code-log` (PyPI), `ccusage` (npm, 17), in
$PARTITA_RIVALS or on the PATH. agentsview keeps less than we do (no raw lines); ccusage counts tokens alone.
Everything runs once to warm the disk, then three times; the best counts.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec

from partita.logs.log_reader import LogReader
from partita.logs.sources.registry import log_format

from .log_homes import generated_session, make_home
from .table import print_table

SIZE = 55_000_000
PARTITA = Path(sys.executable).with_name("partita")
ROUNDS = 3


def main() -> None:
    """Measure everything."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        size = make_home(home, SIZE, source)
        files = sorted((home / ".claude" / "projects").rglob("*.jsonl"))
        print(f"{len(files)} files, {size / 1e6:.1f} MB, {'real' if source else 'generated'}")
        print_parse(files)
        print_imports(home, Path(folder), size)
        print_again(Path(folder))
        print_memory(Path(folder))


# Reading


def print_parse(files: list[Path]) -> None:
    """Reading, compared with decoding the same lines only."""
    logs = [path.read_bytes() for path in files]
    lines = [line for data in logs for line in data.split(b"\n") if line]
    size = sum(map(len, logs))
    bare, ours = best_of(lambda: decode(lines), lambda: read_all(logs))
    print_table(
        "reading alone, one process",
        ["what", "seconds", "MB/s", "ratio"],
        [
            ["msgspec.json.decode of every line", f"{bare:.3f}", f"{size / bare / 1e6:.0f}", "1.00"],
            [
                "messages, by decoder and reducer",
                f"{ours:.3f}",
                f"{size / ours / 1e6:.0f}",
                f"{bare / ours:.2f}",
            ],
        ],
    )


def decode(lines: list[bytes]) -> None:
    """Decode every line, and drop the result."""
    decoder = msgspec.json.Decoder()
    for line in lines:
        decoder.decode(line)


def read_all(logs: list[bytes]) -> None:
    """Read the messages of every log."""
    format_ = log_format("claude-code-log")
    for data in logs:
        reading = LogReader(format_, "t")
        for start in range(0, len(data), 1 << 20):
            reading.feed(data[start : start + (1 << 20)])
            reading.take()
        reading.finish()


def best_of(*works: Callable[[], None]) -> list[float]:
    """The best time of each function, measured in turns so that all have the same conditions."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS + 1):
        for work, seconds in zip(works, times, strict=True):
            began = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - began)
    return [min(seconds[1:]) for seconds in times]


# Importing


def print_imports(home: Path, folder: Path, size: int) -> None:
    """The import as a command, compared with the commands of other tools."""
    contenders = list(commands(home, folder))
    times: dict[str, list[float]] = {name: [] for name, *_ in contenders}
    for _ in range(ROUNDS + 1):
        for name, command, environment, clean in contenders:
            shutil.rmtree(clean, ignore_errors=True)
            clean.mkdir(parents=True)
            began = time.perf_counter()
            done = subprocess.run(command, env=environment, capture_output=True, check=False)
            times[name].append(time.perf_counter() - began)
            if done.returncode != 0:
                print(name, "failed:", done.stderr.decode()[-300:])
    ours = min(times["partita import"][1:])
    rows = [
        [name, f"{min(each[1:]):.2f}", f"{size / min(each[1:]) / 1e6:.1f}", f"{min(each[1:]) / ours:.2f}"]
        for name, each in times.items()
    ]
    print_table("importing, as commands", ["command", "seconds", "MB/s", "× ours"], rows)


def commands(home: Path, folder: Path) -> Iterator[tuple[str, list[str], dict[str, str], Path]]:
    """Our command and those of installed rivals: what to run, where, and what to delete before."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(home)}
    ours = folder / "ours"
    store = {**plain, "PARTITA_STORE": f"sqlite:///{ours}/store.db"}
    yield "partita import", [str(PARTITA), "import"], store, ours
    if agentsview := rival("agentsview"):
        theirs = folder / "agentsview"
        data = {**plain, "AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DATA_DIR": str(theirs)}
        yield "agentsview sync", [agentsview, "sync"], data, theirs
    if ccusage := rival("ccusage"):
        yield "ccusage daily (tokens only)", [ccusage, "daily", "--offline", "--json"], plain, folder / "cc"
    if viewer := rival("claude-code-log"):
        output = folder / "html"
        arguments = [viewer, "--all-projects", "--no-cache", "--output", str(output)]
        yield "claude-code-log (HTML)", arguments, plain, output


def rival(name: str) -> str | None:
    """The path of a rival's command."""
    places = os.environ.get("PARTITA_RIVALS", "")
    return shutil.which(name, path=os.pathsep.join(filter(None, [places, os.environ["PATH"]])))


# Many files without news


def print_again(folder: Path) -> None:
    """A thousand files that were imported before."""
    home = folder / "thousand"
    make_files(home, 1000)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PARTITA_STORE": f"sqlite:///{folder}/thousand.db",
    }
    command = [str(PARTITA), "import"]
    times: list[float] = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    rows = [["the first time", f"{times[0]:.2f}"], ["again, with nothing new", f"{min(times[1:]):.2f}"]]
    print_table("1,000 files, as a command", ["when", "seconds"], rows)


def make_files(home: Path, count: int) -> None:
    """This many small sessions, not modified for a while."""
    folder = home / ".claude" / "projects" / "-bench"
    folder.mkdir(parents=True)
    for number in range(count):
        session = f"{number:08x}-0000-4000-8000-000000000000"
        path = folder / f"{session}.jsonl"
        path.write_bytes(generated_session(Random(number), session, 2))
        os.utime(path, (1_700_000_000, 1_700_000_000))


def print_memory(folder: Path) -> None:
    """The peak memory of reading a file, and one ten times as long."""
    rows: list[list[str]] = []
    for turns in (400, 4000):
        path = folder / f"{turns}.jsonl"
        write_long(path, turns)
        code = (
            "import resource, sys\nfrom partita.logs.parsed_log import parse_log_file\n"
            "count = sum(1 for _ in parse_log_file(sys.argv[1]))\n"
            "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, check=True, text=True
        )
        count, peak = map(int, done.stdout.split())
        scale = 1 if sys.platform == "darwin" else 1024
        rows.append([f"{path.stat().st_size / 1e6:.0f} MB", f"{count:,}", f"{peak * scale / 1e6:.0f} MB"])
    print_table("memory of reading one file", ["file", "messages", "most memory"], rows)


def write_long(path: Path, turns: int) -> None:
    """A long session."""
    with path.open("wb") as file:
        for part in range(turns // 40):
            session = f"{part:08x}-0000-4000-8000-000000000000"
            file.write(generated_session(Random(part), session, 40))


if __name__ == "__main__":
    main()
