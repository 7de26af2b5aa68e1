"""Chat Completions of OpenAI and of the many servers that speak alike: answers → chunks, views → requests."""
