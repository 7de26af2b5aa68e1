"""OpenTelemetry, if it is there and somebody wants traces: otherwise it is not even imported."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # an extra
    from opentelemetry.trace import Tracer

MODULE: Final = "opentelemetry.trace"
PROVIDER: Final = "OTEL_PYTHON_TRACER_PROVIDER"
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SCOPE: Final = "partita"


def tracer() -> "Tracer | None":
    """What makes spans; `None` when nobody has set up a provider: who does has imported the package."""
    trace = sys.modules.get(MODULE)
    if trace is None:
        if PROVIDER not in os.environ:
            return None
        try:
            trace = import_module(MODULE)
        except ImportError:
            return None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    from partita.version import __version__

    made: Tracer = provider.get_tracer(SCOPE, __version__)
    return made


def wants_content() -> bool:
    """Whether what is said shall be in the traces: it may be private, so only when it is asked for."""
    return os.environ.get(CONTENT, "").strip().lower() in ("true", "1", "span_only", "span_and_event")
