"""The logs of runs: appended to, followed, sealed, dropped."""
