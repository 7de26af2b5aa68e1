"""The server beside a bare event stream, and beside the Vercel adapter of Pydantic AI."""
