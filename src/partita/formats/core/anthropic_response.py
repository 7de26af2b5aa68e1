"""Stop reasons and usage of Anthropic's responses, which Claude Code's logs and streams also contain."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import JsonObject
from partita.types.usage import UsageNames

# https://docs.claude.com/en/api/handling-stop-reasons
FINISH_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
"""Finish reasons by stop reason; any other is `other`."""


def usage_names(template: JsonObject | None = None) -> UsageNames:
    """The names of the counts. `template`: what is always written.

    The three counts of input are disjoint: https://docs.claude.com/en/api/messages#response-usage
    """
    return UsageNames(
        input=("input_tokens",),
        output=("output_tokens",),
        reasoning=("output_tokens_details.thinking_tokens",),
        cached=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        excludes_cache=True,
        template=template,
    )
