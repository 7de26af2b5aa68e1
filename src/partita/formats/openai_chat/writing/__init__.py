"""Canonical messages → Chat Completions: requests and answers, with everything told that they cannot hold."""
