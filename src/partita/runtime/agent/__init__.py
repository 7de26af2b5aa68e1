"""The agent loop: history, model, tools, again, until there is an answer."""
