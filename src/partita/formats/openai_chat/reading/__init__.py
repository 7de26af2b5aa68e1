"""Chat Completions → canonical messages: requests, answers, and streams of them."""
