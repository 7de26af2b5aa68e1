"""Messages, artifacts and tasks of the Agent2Agent protocol."""
