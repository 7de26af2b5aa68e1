"""Run this benchmark: `python -m benchmarks.formats`."""

import sys

from . import main

main(sys.argv[1:])
