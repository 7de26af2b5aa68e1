"""Run every benchmark: `python -m benchmarks`."""

from . import accumulate, decode, imports, logs, runtime, store_bulk, store_log, store_scale, store_size

for benchmark in (accumulate, decode, imports, logs, runtime, store_bulk, store_log, store_scale, store_size):
    benchmark.main()
