"""Chat Completions: the server's agents, for clients that speak to OpenAI."""
