"""The server, compared with a bare event stream and with the Vercel adapter of Pydantic AI."""
