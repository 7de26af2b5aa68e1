"""Run this benchmark alone: `python -m benchmarks.formats`."""

import sys

from . import main

main(sys.argv[1:])
