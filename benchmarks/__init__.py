"""Benchmarks of speed and memory, one question for each file, with other libraries in the same run."""
