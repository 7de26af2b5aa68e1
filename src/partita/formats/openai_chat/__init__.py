"""Chat Completions of OpenAI and of compatible servers."""
