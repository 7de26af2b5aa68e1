"""Every route of Mastra's memory API."""

from typing import Final

from litestar import Router

from .memory_routes import MASTRA_MEMORY
from .message_routes import MASTRA_MESSAGES
from .thread_routes import MASTRA_THREADS

MASTRA: Final = [
    Router(
        "/",
        route_handlers=[*MASTRA_THREADS, *MASTRA_MESSAGES, *MASTRA_MEMORY],
    )
]
