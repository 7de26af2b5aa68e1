"""V1 messages of Mastra ↔ canonical messages.

Lost on load: what AI SDK 4 core messages lose, and the place of a result that does not stand right behind its
call. Results go into their calls, which remember the message they came in. Members without a name here, among
them `toolCallIds`, `toolCallArgs` and `toolNames`, go to `extra`.

Lost on dump: what reading the result again would not give back. The steps of an answer and the results of its
calls are messages of their own, with ids made of its own.
"""

from collections.abc import Sequence

from partita.errors import ConversionError
from partita.formats.ai_sdk.model.marks import conversion
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import Message

from .comparing import losses_of
from .core import load_core
from .dump_v1_message import dump_v1_messages
from .network import structured
from .rows import Row, folded


def load(payload: Json) -> Loaded:
    """V1 messages, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    raws = payload if is_array(payload) else [payload]
    with conversion():
        messages = [
            load_core(_checked(raw, path), path, losses, index)
            for index, raw in enumerate(raws)
            for path in (f"$[{index}]" if is_array(payload) else "$",)
        ]
        merged = folded(messages, "$", losses)
        return Loaded(tuple(structured(message) or message for message in merged), tuple(losses))


def _checked(raw: Json, path: str) -> Json:
    if Row(raw).is_v2:
        raise ConversionError("the message is V2", where=f"{path}.content", hint="load it as mastra-v2")
    return raw


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the list that Mastra took and gave before V2."""
    with conversion():
        whole = fold(messages)
        payload: list[JsonObject] = [row for message in whole for row in dump_v1_messages(message)]
        return Dumped(payload, losses_of(whole, load(payload).messages))
