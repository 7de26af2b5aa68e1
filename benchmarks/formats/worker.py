"""A process that measures formats of one source tree, or the rivals.

The first line of its input has the payloads by format. Each further line is a task and a number of
repetitions; the answer is the seconds that the fastest took, or an error as a string.
"""

import sys
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import partita
from partita import convert, get_format
from partita.types.json import Json, dumps, loads


def main(tree: str) -> None:
    """Run tasks until the input ends."""
    assert Path(tree) in Path(str(partita.__file__)).parents, f"{partita.__file__} is not in {tree}"
    inputs = loads(sys.stdin.readline())
    timers: dict[str, timeit.Timer] = {}
    for line in sys.stdin:
        task, repetitions = loads(line)
        try:
            timer = timers.get(str(task)) or timers.setdefault(str(task), _timer(_work(inputs, *task)))
            answer: Json = min(timer.repeat(repetitions, 1))
        except Exception as error:  # another tree may lack a format: the parent prints the reason
            answer = f"{type(error).__name__}: {error}"
        print(dumps(answer).decode(), flush=True)


def _timer(work: Callable[[], Any]) -> timeit.Timer:
    """CPU time: other processes of the machine change it less than they change the time that passes."""
    return timeit.Timer(work, timer=time.process_time)


def _work(inputs: dict[str, Json], kind: str, formats: Sequence[str], rival: str) -> Callable[[], Any]:
    """The function to measure.

    `load`, `dump` and `losses` (a dump and its losses) are of one format: a dump writes the messages that
    this tree has read from the input. `translate` is load and dump of two formats, `convert` the same with
    all losses.
    """
    source, target = formats[0], formats[-1]
    payload = inputs[source]
    if rival:
        from .rivals import all_rivals

        return next(one for one in all_rivals() if one.name == rival).work(kind, payload, source, target)
    if kind == "convert":
        return lambda: convert(payload, source, target).losses
    load, dump = get_format(source).load, get_format(target).dump
    if load is None or dump is None:
        raise ValueError("the format is not both read and written")
    if kind == "load":
        return lambda: load(payload)
    if kind == "translate":
        return lambda: dump(load(payload).messages).payload
    messages = load(payload).messages
    return (lambda: dump(messages).losses) if kind == "losses" else (lambda: dump(messages).payload)


if __name__ == "__main__":
    main(sys.argv[1])
