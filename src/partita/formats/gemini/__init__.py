"""Answers of Gemini's `generateContent`, streamed or whole, and requests to it."""
