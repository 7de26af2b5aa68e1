"""OpenCode's own storage: folders of JSON files, and databases of two generations."""
