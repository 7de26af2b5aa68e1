"""Every route there is."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from partita.server.assistant_ui.routes import ASSISTANT_UI
from partita.server.chat.routes import CHAT
from partita.server.mastra.routes import MASTRA
from partita.server.openapi.routes import OPENAPI

from .agents import AGENTS
from .analytics import ANALYTICS
from .blobs import BLOBS
from .convert import CONVERT
from .health import HEALTH
from .imports import IMPORTS
from .messages import MESSAGES
from .replay import REPLAY
from .run_log import RUN_LOG
from .runs import RUNS
from .search import SEARCH
from .threads import THREADS

ROUTES: Final[Sequence[ControllerRouterHandler]] = [
    *CHAT,
    *THREADS,
    *MESSAGES,
    *SEARCH,
    *ANALYTICS,
    *BLOBS,
    *RUNS,
    *RUN_LOG,
    *REPLAY,
    *AGENTS,
    *CONVERT,
    *IMPORTS,
    *MASTRA,
    *ASSISTANT_UI,
    *OPENAPI,
    *HEALTH,
]
