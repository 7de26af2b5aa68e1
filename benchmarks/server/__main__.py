"""`python -m benchmarks.server`."""

from .compare import main

main()
