"""Names of `ui_v4` and `core.files` that other formats import."""

from partita.formats.ai_sdk.ui_v4.format import load, raw_parts
from partita.formats.core.files import file_url, guess_media_type

__all__ = ["file_url", "guess_media_type", "load", "raw_parts"]
