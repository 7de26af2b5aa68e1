"""Former names of the methods of a sink, until all decoders use the new ones."""

from datetime import datetime
from typing import Any

from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import Message


class FormerNames:
    """`say`, `grow`, `puzzle`, `learn` and `tick`."""

    def say(self: Any, message: Message) -> None:
        """See `add_message`."""
        self.add_message(message)

    def grow(self: Any, message_id: str, *chunks: Chunk) -> bool:
        """See `append`."""
        return bool(self.append(message_id, *chunks))

    def puzzle(self: Any, what: str, *, detail: str = "") -> None:
        """See `report_unknown`."""
        self.report_unknown(what, detail=detail)

    def learn(self: Any, fact: Any, value: Json) -> None:
        """See `set_fact`."""
        self.set_fact(fact, value)

    def tick(self: Any, time: datetime) -> None:
        """See `set_time`."""
        self.set_time(time)
