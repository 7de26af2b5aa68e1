"""Results of networks that were stored as JSON in a text → structure."""

from partita.formats.mastra.network import structured
from partita.types.messages import AssistantMessage, Message

from .migration import Changed, Migration, StoredRow


def change(message: Message, row: StoredRow) -> Changed | None:
    """The message with what a network left in its texts as structure."""
    better = structured(message)
    return None if better is None else Changed(better, _done(better))


def _done(message: Message) -> str:
    network = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if network is not None:
        return f"a network's result of {network.primitive_type} {network.primitive_id}"
    return "what a network says to itself, marked as internal"


NETWORK_STRINGS = Migration(
    "network-strings", "Results of networks as structure, not as JSON in a text", change
)
