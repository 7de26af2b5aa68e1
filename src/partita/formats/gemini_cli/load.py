"""A chat, as one document or as records → canonical messages."""

from partita.formats.format import Loaded
from partita.formats.records import load_records, records_in
from partita.types.json import Json, is_object

from .chat import GeminiChatDecoder
from .records import records_of


def load(payload: Json) -> Loaded:
    """A chat as messages."""
    records = list(records_of(payload)) if is_object(payload) else records_in(payload)
    return load_records(records, GeminiChatDecoder, "gemini-cli-line")
