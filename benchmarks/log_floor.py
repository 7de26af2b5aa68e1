"""The lower bound for reading a log: decode and keep its lines, and construct the resulting values.

    python -m benchmarks.log_floor [FOLDER]     (default: generated sessions; FOLDER: with real ones)

Nothing is found out here: the values are made of fields that are known already.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from partita.logs.log_reader import LogReader
from partita.logs.sources.registry import log_format

from .log_homes import generated, logs_of
from .logs import best_of, decode, read_all
from .table import print_table

Plan = Callable[[], Any]


def main() -> None:
    """Measure everything."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    logs = [data for _, data in (generated(1) if source is None else logs_of(source))]
    lines = [line for data in logs for line in data.split(b"\n") if line]
    plans = [[plan_for(message) for message in messages_of(data)] for data in logs]
    bare, kept, made, ours = best_of(
        lambda: decode(lines), lambda: keep(logs), lambda: make(logs, plans), lambda: read_all(logs)
    )
    rows = (
        ("decoded, nothing kept", bare),
        ("and kept", kept),
        ("and values constructed", made),
        ("read", ours),
    )
    print_table(
        f"{len(logs)} logs, {len(lines):,} lines, one process",
        ["what", "µs a line", "ratio"],
        [[what, f"{each / len(lines) * 1e6:.1f}", f"{bare / each:.2f}"] for what, each in rows],
    )


def messages_of(data: bytes) -> list[Any]:
    """The messages of a log."""
    reading = LogReader(log_format("claude-code-log"), "t")
    reading.feed(data)
    return list(reading.finish().messages)


def plan_for(value: Any) -> Plan:
    """A function that constructs a value again, with all values of our types in it."""
    if is_tuple(value):
        items = [plan_for(item) for item in value]
        return lambda: tuple([item() for item in items])
    if not isinstance(value, msgspec.Struct):
        return lambda: value
    type_ = type(value)
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    plain = {
        name: field for name, field in fields.items() if field is not None and field is not msgspec.UNSET
    }
    inner = [
        (name, plan_for(field)) for name, field in plain.items() if isinstance(field, (tuple, msgspec.Struct))
    ]
    if not inner:
        return lambda: type_(**plain)
    return lambda: type_(**{**plain, **{name: plan() for name, plan in inner}})


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple of any type."""
    return isinstance(value, tuple)


def keep(logs: list[bytes]) -> None:
    """Decode every line, and keep the result until the end of its log."""
    decoder = msgspec.json.Decoder()
    for data in logs:
        _ = [decoder.decode(line) for line in data.split(b"\n") if line]


def make(logs: list[bytes], plans: list[list[Plan]]) -> None:
    """Decode and keep, and construct the messages."""
    decoder = msgspec.json.Decoder()
    for data, wanted in zip(logs, plans, strict=True):
        _ = [decoder.decode(line) for line in data.split(b"\n") if line], [plan() for plan in wanted]


if __name__ == "__main__":
    main()
