"""Every route for assistant-ui."""

from typing import Final

from partita.server.routes.parameters import routes_for_callers

from .message_routes import ASSISTANT_UI_MESSAGES
from .thread_routes import ASSISTANT_UI_THREADS

ASSISTANT_UI: Final = [routes_for_callers(*ASSISTANT_UI_THREADS, *ASSISTANT_UI_MESSAGES)]
