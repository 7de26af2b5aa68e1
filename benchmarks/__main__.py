"""Run every benchmark: `python -m benchmarks`."""

from . import accumulate, decode, imports

for benchmark in (accumulate, decode, imports):
    benchmark.main()
