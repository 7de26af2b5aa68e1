"""All endpoints: those that the modules of routes and dialects define."""

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from partita.server.dialects import (
    ag_ui,
    ai_sdk,
    assistant_ui,
    mastra_memory,
    mastra_messages,
    mastra_threads,
    openai,
)
from partita.server.endpoints import Endpoint
from partita.server.openapi import routes as openapi

from . import (
    analytics,
    blobs,
    convert,
    imports,
    inspect,
    messages,
    overview,
    prices,
    raw_messages,
    redaction,
    replay,
    run_log,
    runs,
    search,
    settings,
    share,
    sources,
    status,
    threads,
    timeline,
    tool_views,
)

MODULES: Final[Sequence[ModuleType]] = (
    ai_sdk,
    threads,
    messages,
    overview,
    raw_messages,
    search,
    share,
    analytics,
    blobs,
    runs,
    run_log,
    replay,
    timeline,
    tool_views,
    status,
    convert,
    inspect,
    imports,
    settings,
    sources,
    prices,
    redaction,
    mastra_threads,
    mastra_messages,
    mastra_memory,
    assistant_ui,
    openai,
    ag_ui,
    openapi,
)

ROUTES: Final[Sequence[Endpoint]] = [
    value for module in MODULES for value in vars(module).values() if isinstance(value, Endpoint)
]
