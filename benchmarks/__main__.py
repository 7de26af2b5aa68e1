"""Run every benchmark: `python -m benchmarks`.

`python -m benchmarks formats` runs only that of the formats, and takes options.
"""

import sys

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

if sys.argv[1:2] == ["formats"]:
    formats.main(sys.argv[2:])
    sys.exit()

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
