"""A network execution among the parts of V2: a `dynamic-tool`, as Mastra's page draws one that is at work.

It is never JSON in a text. The whole of it rides in the metadata of the part, from where it is taken back.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from partita.formats.ai_sdk.ui.dump import dump_message
from partita.stream.encoder import NETWORK_KEY
from partita.types.codec import Codec
from partita.types.json import Json, is_object
from partita.types.messages import AssistantMessage, NetworkExecution

_NETWORK: Codec[NetworkExecution] = Codec(NetworkExecution)


def network_part(message: AssistantMessage) -> Json:
    """The part that stands for a message's network execution."""
    alone = replace(message, content=replace(message.content, parts=()), extra=None)
    return dump_message(alone, "$", [], 7)["parts"][-1]


def take_network(parts: Sequence[Json]) -> tuple[NetworkExecution | None, list[Json]]:
    """The execution that one of the parts stands for, and the others."""
    for place, part in enumerate(parts):
        if is_object(part) and part.get("type") == "dynamic-tool":
            marks = part.get("toolMetadata")
            if is_object(marks) and NETWORK_KEY in marks:
                others = [*parts[:place], *parts[place + 1 :]]
                return _NETWORK.read(marks[NETWORK_KEY]), others
    return None, list(parts)
