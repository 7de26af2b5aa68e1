"""Every route there is."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from partita.server.ag_ui.routes import AG_UI
from partita.server.assistant_ui.routes import ASSISTANT_UI
from partita.server.chat.routes import CHAT
from partita.server.mastra.routes import MASTRA
from partita.server.openai.routes import OPENAI
from partita.server.openapi.routes import OPENAPI

from .agents import AGENTS
from .analytics import ANALYTICS
from .blobs import BLOBS
from .convert import CONVERT
from .facets import FACETS
from .feed import FEED
from .health import HEALTH
from .imports import IMPORTS
from .inspect import INSPECT
from .messages import MESSAGES
from .outline import OUTLINE
from .raw_messages import RAW_MESSAGES
from .replay import REPLAY
from .run_log import RUN_LOG
from .runs import RUNS
from .search import SEARCH
from .share import SHARE
from .threads import THREADS
from .timeline import TIMELINE

ROUTES: Final[Sequence[ControllerRouterHandler]] = [
    *CHAT,
    *THREADS,
    *FACETS,
    *FEED,
    *MESSAGES,
    *OUTLINE,
    *RAW_MESSAGES,
    *SEARCH,
    *SHARE,
    *ANALYTICS,
    *BLOBS,
    *RUNS,
    *RUN_LOG,
    *REPLAY,
    *TIMELINE,
    *AGENTS,
    *CONVERT,
    *INSPECT,
    *IMPORTS,
    *MASTRA,
    *ASSISTANT_UI,
    *OPENAI,
    *AG_UI,
    *OPENAPI,
    *HEALTH,
]
