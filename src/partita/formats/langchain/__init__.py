"""Messages of LangChain, as it stores them, with its standard content blocks or without."""
