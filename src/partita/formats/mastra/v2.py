"""V2 messages of Mastra, and the rows of its table ↔ canonical messages.

Lost on load: `null` for "absent" in parts, and that a content is damaged: it is kept as text. Of V1 rows,
which may stand among them, what `v1` loses.

- The parts have the word; what stands beside them fills in what they lack. See `mirrors`.
- Calls that wait, as the metadata has it, are calls that ask for approval. See `calls`.
- What networks left in texts becomes structure. See `network`.
- A signal that a user sent is what the user says; any other becomes a system message, an internal event.
- A file that only a provider has gets a provider reference; reasoning becomes one part a detail.

Lost on dump: what reading the result again would not give back, such as numbers, runs, branches, and what an
invocation has no room for. A row of the table is written as a message: under `threadId`, its content no text.
A network execution is a part, unless another form is asked for. See `network_forms`.
"""

from collections.abc import Sequence

from partita.formats.ai_sdk.model.marks import conversion
from partita.formats.format import Dumped, Loaded
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, is_array
from partita.types.messages import Message

from .comparing import losses_of
from .dump_message import dump_v2_message
from .network import structured
from .network_forms import NetworkForm, checked_form
from .rows import load_row, load_rows, unwrapped


def load(payload: Json) -> Loaded:
    """Stored messages, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    with conversion():
        if is_array(payload):
            messages = load_rows(payload, "$", losses)
        else:
            messages = [load_row(unwrapped(payload, "$", losses), "$", losses)]
        return Loaded(tuple(structured(message) or message for message in messages), tuple(losses))


def dump(messages: Sequence[Message], network: NetworkForm | None = None) -> Dumped:
    """Messages as the list that Mastra's memory takes and gives.

    `network` is how network executions are written: as a `part`, in a `field`, as a `string`, or `both`
    (the field and the string).
    """
    checked_form(network)
    with conversion():
        folded = fold(messages)
        payload = [dump_v2_message(message, network) for message in folded]
        return Dumped(payload, losses_of(folded, load(payload).messages))
