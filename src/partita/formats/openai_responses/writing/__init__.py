"""Messages → payloads of the Responses API, told in full."""
