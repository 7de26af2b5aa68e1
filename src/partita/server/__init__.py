"""The HTTP API over the store and the runtime: plain ASGI outside, Litestar inside."""
