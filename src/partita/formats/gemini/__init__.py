"""Google's generateContent API: requests and responses, whole or streamed."""
