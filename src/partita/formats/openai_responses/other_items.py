"""Items that are no words and no calls: outputs of the provider's calls, and whatever else it may send."""

from typing import Final

from partita.types.chunks import CustomChunk
from partita.types.json import JsonObject

from .answer import Answer
from .fields import ITEM, NAMESPACE, present, rest_of, text
from .hosted_calls import output_chunk

HEARD: Final = frozenset(
    {"response.shell_call_output_content.delta", "response.shell_call_output_content.done"}
)
"""Pieces of an output that the whole item says again."""

RENAMED: Final = {"encrypted_content": "encryptedContent"}
"""Fields that have a name of their own in the metadata of the AI SDK."""


class OutputItem:
    """What came of a call, in an item of its own."""

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.kind = text(item, "type")
        self.is_ended = False
        self._answer = answer

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the output."""
        return text(event, "type") in HEARD and not self.is_ended

    def may_be(self, item: JsonObject) -> bool:
        """No: nothing of it came in pieces."""
        return False

    def end(self, item: JsonObject) -> None:
        """Take the whole output. Without its call in this answer it is kept as it is."""
        if self.is_ended:
            return
        self.is_ended = True
        call_id = text(item, "call_id")
        if self.kind == "tool_search_output" and not call_id and self._answer.searches:
            call_id = self._answer.searches.pop(0)
        if not self._answer.knows(call_id):
            _keep(self._answer, item)
            return
        self._answer.answer_call(call_id)
        self._answer.outlet.emit(output_chunk(call_id, item, ("call_id",)))

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes: there was no output."""
        self.is_ended = True


class OtherItem:
    """An item of one provider: a compaction, a list of tools, something new. It is kept whole."""

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.kind = text(item, "type")
        self.is_ended = False
        self._answer = answer
        self._item = item

    def hear(self, event: JsonObject) -> bool:
        """Understand nothing: the events of an item that is not known are not known either."""
        return False

    def may_be(self, item: JsonObject) -> bool:
        """No: nothing of it came in pieces."""
        return False

    def end(self, item: JsonObject) -> None:
        """Take the whole item."""
        if not self.is_ended:
            self.is_ended = True
            _keep(self._answer, item)

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes: what there was of it is kept."""
        self.end(self._item)


def _keep(answer: Answer, item: JsonObject) -> None:
    kind = text(item, "type")
    known = {new: item[name] for name, new in RENAMED.items() if item.get(name) is not None}
    metadata = {
        "type": kind,
        **present(itemId=text(item, "id")),
        **known,
        **present(**{ITEM: rest_of(item, *RENAMED)}),
    }
    answer.outlet.emit(CustomChunk(f"{NAMESPACE}.{kind}", {NAMESPACE: metadata}))
