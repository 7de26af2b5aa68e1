"""Measure all formats, compared with other libraries, another source tree, and earlier results.

The speed of a machine can change by a factor of two for a second. So everything is measured in several
passes, in each of which the contenders take turns, and the fastest single call of all passes counts.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ..table import print_table
from .inputs import build_inputs
from .rivals import Rival, all_rivals

ROOT = Path(__file__).parents[2]
SECONDS = 0.02
"""The approximate seconds that a task runs in each pass."""
OF_FORMAT = ("load", "dump", "losses")
OF_PAIR = ("translate", "convert")
PAIRS = (
    ("openai-chat", "ai-sdk-ui-v7"),
    ("ai-sdk-ui-v7", "openai-chat"),
    ("openai-chat", "ag-ui"),
    ("ag-ui", "openai-chat"),
    ("openai-chat", "langchain"),
    ("langchain", "openai-chat"),
    ("pydantic-ai", "ai-sdk-ui-v7"),
    ("pydantic-ai", "ag-ui"),
    ("ag-ui", "ai-sdk-ui-v7"),
)

Speeds: TypeAlias = dict[str, float]
"""Messages per second, by task. A task that failed is absent."""


class Task(NamedTuple):
    """A measurement: a format, or a pair of formats."""

    kind: str
    formats: tuple[str, ...]
    rival: str = ""

    @property
    def name(self) -> str:
        """The name in tables and in the file of results."""
        return f"{self.rival}{': ' if self.rival else ''}{self.kind} {' → '.join(self.formats)}"


class Worker:
    """A process that measures with one source tree."""

    def __init__(self, tree: Path, inputs: str, messages: int) -> None:
        """Start it and send the inputs."""
        self.tree = tree
        self.messages = messages
        self.speeds: Speeds = {}
        self._repetitions: dict[Task, int] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.formats.worker", str(tree)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(tree)},  # found before the installed package
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send(inputs)

    def measure(self, task: Task) -> None:
        """Run a task for a while, and keep its speed if it is the best so far."""
        if task not in self._repetitions:
            self._seconds(task, 1)  # imports and caches
            once = self._seconds(task, 1)
            self._repetitions[task] = max(1, int(SECONDS / once)) if once else 0
        repetitions = self._repetitions[task]
        if repetitions and (seconds := self._seconds(task, repetitions)):
            self.speeds[task.name] = max(self.messages / seconds, self.speeds.get(task.name, 0.0))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _seconds(self, task: Task, repetitions: int) -> float | None:
        """Seconds of the fastest of so many repetitions; `None` if the tree does not support the task."""
        assert self._process.stdout is not None
        self._send(json.dumps([task, repetitions]))
        answer = json.loads(self._process.stdout.readline() or '"the process ended"')
        if isinstance(answer, str):
            print(f"{self.tree}: {task.name}: {answer}", file=sys.stderr)
            return None
        return answer


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print."""
    options = _options(arguments)
    payloads = build_inputs(options.messages)
    only = set(options.only or payloads)
    if unknown := only - payloads.keys():
        sys.exit(f"Unknown formats: {', '.join(sorted(unknown))}. Choose from: {', '.join(payloads)}")
    formats = [(name,) for name in payloads if name in only]
    pairs = [pair for pair in PAIRS if only & set(pair)]
    tasks = [Task(kind, one) for one in formats for kind in OF_FORMAT]
    tasks += [Task(kind, pair) for pair in pairs for kind in OF_PAIR]
    beside = [
        (rival, task) for one in (*formats, *pairs) for rival in all_rivals() for task in _of(rival, one)
    ]
    inputs = json.dumps(payloads)
    here, theirs = (Worker(ROOT / "src", inputs, options.messages) for _ in range(2))
    other = Worker(options.tree, inputs, options.messages) if options.tree else None
    for _ in range(options.passes):
        for task in tasks:
            for worker in (here, other) if other else (here,):
                worker.measure(task)
            for rival, its in beside:
                if _same(its) == task:
                    theirs.measure(its._replace(rival=rival.name))
    for worker in filter(None, (here, other, theirs)):
        worker.close()
    before: Speeds = json.loads(options.baseline.read_text())["speeds"] if options.baseline else {}
    olds = {"tree": other.speeds if other else {}, "file": before}
    title = f"Messages per second ({options.messages} messages"
    _print(f"{title}; the report of losses in µs per message)", formats, OF_FORMAT, here.speeds, olds)
    _print(f"{title}; translate: load and dump, convert: with losses)", pairs, OF_PAIR, here.speeds, olds)
    _print_rivals(beside, here.speeds, theirs.speeds)
    ratios = [speed / before[name] for name, speed in theirs.speeds.items() if name in before]
    if ratios:
        print(f"\n  The rivals run at {prod(ratios) ** (1 / len(ratios)):.2f}× of their speed in the file.")
    if options.json:
        numbers = {"messages": options.messages, "speeds": here.speeds | theirs.speeds, "tree": olds["tree"]}
        options.json.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks formats", description="How fast are formats?")
    add = parser.add_argument
    add("only", nargs="*", metavar="FORMAT", help="measure only these formats")
    add("--messages", type=int, default=100, help="length of the conversation (default: 100)")
    add("--passes", type=int, default=10, help="how often everything is measured (default: 10)")
    add("--json", type=Path, metavar="FILE", help="write the numbers to a file")
    add("--baseline", type=Path, metavar="FILE", help="add ratios to the numbers in a file")
    tree = "measure the `src` of another checkout in turn with this one, and add ratios to it"
    add("--tree", type=Path, metavar="PATH", help=tree)
    options = parser.parse_args(arguments)
    if options.tree:
        options.tree = options.tree.resolve()
        if not (options.tree / "partita").is_dir():
            parser.error(f"{options.tree} has no package `partita`: give the `src` folder of a checkout")
    return options


def _of(rival: Rival, formats: tuple[str, ...]) -> Iterator[Task]:
    """The tasks that a rival supports for a format, or for a pair of formats."""
    if formats[0] in rival.load and formats[-1] in rival.dump:
        for kind in ("load", "dump") if len(formats) == 1 else ("convert",):
            yield Task(kind, formats)


def _same(task: Task) -> Task:
    """Our task that does what a rival's task does. It reports no losses, so ours is without them."""
    return task._replace(kind="translate") if task.kind == "convert" else task


def _print(
    title: str, groups: Sequence[tuple[str, ...]], kinds: Sequence[str], ours: Speeds, olds: dict[str, Speeds]
) -> None:
    """A row for each format or pair, with ratios to the speeds of the other tree and of the file."""
    compared = {name: old for name, old in olds.items() if old}
    head = ["format", *kinds, *(["report"] if "losses" in kinds else [])]
    rows: list[list[str]] = []
    for group in groups:
        names = [Task(kind, group).name for kind in kinds]
        row = [" → ".join(group), *(f"{ours[name]:,.0f}" if name in ours else "-" for name in names)]
        if "losses" in kinds:
            _, dump, losses = (1e6 / ours.get(name, float("nan")) for name in names)
            row.append(f"{max(losses - dump, 0.0):.1f}")
        for old in compared.values():
            row += [
                f"{ours[name] / old[name]:.2f}×" if name in ours and name in old else "-" for name in names
            ]
        rows.append(row)
    print_table(title, [*head, *(f"{kind} / {name}" for name in compared for kind in kinds)], rows)


def _print_rivals(beside: Sequence[tuple[Rival, Task]], ours: Speeds, theirs: Speeds) -> None:
    rows: list[list[str]] = []
    for rival, task in beside:
        own, its = ours.get(_same(task).name), theirs.get(task._replace(rival=rival.name).name)
        if own and its:
            target = rival.target(task.formats)
            row = [task.name, rival.name, f"{own:,.0f}", f"{its:,.0f}", f"{own / its:.2f}×", f"≥ {target}×"]
            rows.append([*row, "reached" if own / its >= target else "missed"])
    print_table(
        "Rivals on the same input: messages per second, without losses",
        ["what", "rival", "ours", "its", "ratio", "target", ""],
        rows,
    )
