"""What a payload of the Responses API says that shows in the form of the messages made of it."""

from typing import Any, Final

from partita.formats.format import Implied
from partita.formats.openai_responses.reading.content import BUILDS
from partita.formats.openai_responses.reading.outputs import CALLS

from .decoder import BEGINNINGS, ENDINGS, MAKERS, PROGRESS, STAGES
from .hosted_calls import HEARD, PARTIAL
from .other_items import HEARD as HEARD_OUTPUTS
from .quoted_calls import DELTAS, DONES
from .reasonings import KINDS as THOUGHTS
from .reasonings import RAW, SUMMARY
from .texts import KINDS as PASSAGES
from .written_calls import EVENTS

SPOKEN: Final = (
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.refusal.done",
    "response.output_text.annotation.added",
    "response.output_item.added",
    "response.output_item.done",
)
ITEMS: Final = ("message", "mcp_approval_response", "computer_screenshot", RAW, SUMMARY, "function", "error")

IMPLIED: Final[Implied] = {
    "type": frozenset[Any](
        {
            *(*MAKERS, *CALLS, *BUILDS, *PASSAGES, *ITEMS, *SPOKEN, *THOUGHTS, *EVENTS, *DELTAS, *DONES),
            *(*BEGINNINGS, *ENDINGS, *HEARD, *HEARD_OUTPUTS, PARTIAL),
            *(f"{tool}{stage}" for tool in PROGRESS for stage in STAGES),
        }
    ),
    "approve": frozenset[Any]({True, False}),
    "object": frozenset[Any]({"response"}),
    "role": frozenset[Any]({"user", "assistant", "system"}),
    "status": frozenset[Any]({"completed", "in_progress", "queued", *STAGES}),
}
