"""One answer of the model while it comes, as events, as whole messages, or as both."""

from partita.types.json import Json, JsonObject, is_object

from .call import Call
from .passage import Passage


class Response:
    """One answer of the model while it comes."""

    __slots__ = (
        "blocks",
        "facts",
        "id",
        "passages",
        "places",
        "stopped",
        "streamed",
        "told",
        "uuids",
    )

    def __init__(self, id: str | None, *, streamed: bool) -> None:
        self.id = id
        self.streamed = streamed
        self.stopped = False
        self.passages: list[Passage] = []
        self.places: dict[int, Passage | Call | JsonObject] = {}  # by index in the stream; an object is held
        self.told: list[JsonObject] = []  # blocks that streamed in whole and may come again
        self.blocks: list[Json] = []  # all that came in whole messages
        self.uuids: set[str] = set()  # of those messages
        self.facts: JsonObject = {}

    def note(self, facts: JsonObject) -> None:
        """Remember what was said about the answer, but for what is null."""
        self.facts.update({name: fact for name, fact in facts.items() if fact is not None})

    def count(self, usage: Json, *, adds: bool = False) -> None:
        """Take the usage with the most output, the later on a tie. What `adds` goes over what there is."""
        if not is_object(usage):
            return
        known: JsonObject = self.facts.get("usage", {})
        told = (
            {**known, **{key: value for key, value in usage.items() if value is not None}} if adds else usage
        )
        if _output(told) >= _output(known):
            self.facts["usage"] = told


def _output(usage: JsonObject) -> float:
    count = usage.get("output_tokens")
    return count if isinstance(count, int | float) else 0
