"""Questions about speed and memory, one file each, rivals beside us in the same run."""
