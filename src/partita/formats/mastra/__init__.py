"""Messages as Mastra stores them: V2 rows, V1 messages, and the networks that hide in their texts."""
