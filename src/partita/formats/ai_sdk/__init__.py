"""The AI SDK's formats: UI messages, model messages, and its streams, versions 4 to 7."""
