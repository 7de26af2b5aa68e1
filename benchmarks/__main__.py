"""Run every benchmark: `python -m benchmarks`."""

from . import (
    accumulate,
    commands,
    decode,
    formats,
    imports,
    logs,
    runtime,
    store_bulk,
    store_log,
    store_scale,
    store_size,
)
from .server import compare as server

for benchmark in (
    accumulate,
    commands,
    decode,
    formats,
    imports,
    logs,
    runtime,
    server,
    store_bulk,
    store_log,
    store_scale,
    store_size,
):
    benchmark.main()
