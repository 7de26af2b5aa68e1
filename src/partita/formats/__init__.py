"""Wire formats: each loads into canonical messages and dumps from them, and reports what it lost."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .ai_sdk.convert import ModelTool as ModelTool
    from .ai_sdk.convert import convert_to_model_messages as convert_to_model_messages
    from .ai_sdk.model.repair import to_model_messages as to_model_messages
    from .ai_sdk.schema import SchemaProblem as SchemaProblem
    from .ai_sdk.ui.chat import dump_chat as dump_chat
    from .ai_sdk.validate import ToolSchemas as ToolSchemas
    from .ai_sdk.validate import Validation as Validation
    from .ai_sdk.validate import Verdict as Verdict
    from .ai_sdk.validate import validate_ui_messages as validate_ui_messages
    from .call_decoder import CallDecoder as CallDecoder
    from .conversion import Converted as Converted
    from .detection.guess import FormatGuess as FormatGuess
    from .detection.guess import sniff as sniff
    from .format import Decoder as Decoder
    from .format import Dumped as Dumped
    from .format import Encoder as Encoder
    from .format import Format as Format
    from .format import HttpApi as HttpApi
    from .format import Loaded as Loaded
    from .format import Request as Request
    from .format import Slot as Slot
    from .format import ToolSpec as ToolSpec
    from .log.session_file import SessionFacts as SessionFacts
    from .log.sink import Consumption as Consumption
    from .log.sink import LogDecoder as LogDecoder
    from .log.sink import LogSink as LogSink
    from .model_view import ModelView as ModelView
    from .registry import all_formats as all_formats


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.formats.ai_sdk.convert": (
        "ModelTool",
        "convert_to_model_messages",
    ),
    "partita.formats.ai_sdk.model.repair": ("to_model_messages",),
    "partita.formats.ai_sdk.schema": ("SchemaProblem",),
    "partita.formats.ai_sdk.ui.chat": ("dump_chat",),
    "partita.formats.ai_sdk.validate": (
        "ToolSchemas",
        "Validation",
        "Verdict",
        "validate_ui_messages",
    ),
    "partita.formats.call_decoder": ("CallDecoder",),
    "partita.formats.conversion": ("Converted",),
    "partita.formats.detection.guess": (
        "FormatGuess",
        "sniff",
    ),
    "partita.formats.format": (
        "Decoder",
        "Dumped",
        "Encoder",
        "Format",
        "HttpApi",
        "Loaded",
        "Request",
        "Slot",
        "ToolSpec",
    ),
    "partita.formats.log.session_file": ("SessionFacts",),
    "partita.formats.log.sink": (
        "Consumption",
        "LogDecoder",
        "LogSink",
    ),
    "partita.formats.model_view": ("ModelView",),
    "partita.formats.registry": ("all_formats",),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
