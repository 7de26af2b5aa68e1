"""Models behind an API as agents. The packages of vendors connect; our formats write and read."""
