"""Messages that Mastra stores (V2, V1, and networks in their texts), and its streams."""
