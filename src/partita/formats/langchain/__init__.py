"""LangChain's messages, with standard content blocks or without."""
