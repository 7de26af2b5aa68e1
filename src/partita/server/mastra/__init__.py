"""The memory API of Mastra over our store: its clients list, read, write and search threads here."""
