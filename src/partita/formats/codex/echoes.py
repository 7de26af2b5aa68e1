"""Words that a rollout has twice: as an item that the model gave, and as an event that the page was told.

The item counts. Its event comes just before or just after it; an event that stays alone is told itself, so no
words are lost in a log that was cut.
"""

from collections import deque
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.types.json import JsonObject

Kind: TypeAlias = Literal["text", "reasoning"]

RECENT: Final = 16


class Heard(NamedTuple):
    """Words of an event whose item has not come yet."""

    kind: Kind
    words: str
    event: JsonObject
    line: int


class Echoes:
    """Pairs events with items, by their order and by their words."""

    def __init__(self) -> None:
        self._waiting: list[Heard] = []
        self._recent: deque[tuple[Kind, str]] = deque(maxlen=RECENT)  # of items that no event was for yet
        self._told: deque[tuple[Kind, str]] = deque(maxlen=RECENT)  # of events that no item came for in time
        self._fresh = False  # whether events came since the last item

    def hear(self, kind: Kind, words: str, event: JsonObject, line: int) -> bool:
        """Words of an event: whether they wait now, for no item has had them."""
        if (kind, words) in self._recent:
            self._recent.remove((kind, words))
            return False
        self._waiting.append(Heard(kind, words, event, line))
        self._fresh = True
        return True

    def item(self, words: str | None, *, is_reasoning: bool = False) -> list[Heard]:
        """An item arrives, with the text of `words` if it has one: the reasoning that no item will have.

        Items come in the order of their events. So reasoning whose event came before that of this item, with
        no other item since, has only its event: it stands before this item.
        """
        fresh, self._fresh = self._fresh, False
        if is_reasoning or not fresh:
            return []
        texts = [
            place for place, heard in enumerate(self._waiting) if (heard.kind, heard.words) == ("text", words)
        ]
        end = texts[0] if texts else len(self._waiting)
        alone = [heard for heard in self._waiting[:end] if heard.kind == "reasoning"]
        self._waiting = [heard for heard in self._waiting if heard not in alone]
        self._told.extend((heard.kind, heard.words) for heard in alone)
        return alone

    def tell(self, kind: Kind, words: str) -> bool:
        """Words of an item: whether they are new, and not told by an event that had waited too long."""
        mine = [heard for heard in self._waiting if heard.kind == kind]
        if mine:  # words may have been masked in one place and not in the other: then the order decides
            self._waiting.remove(next((heard for heard in mine if heard.words == words), mine[0]))
            return True
        if (kind, words) in self._told:
            self._told.remove((kind, words))
            return False
        self._recent.append((kind, words))
        return True

    def give_up(self) -> list[Heard]:
        """The events that no item came for; they are to be told themselves."""
        alone, self._waiting = self._waiting, []
        self._told.extend((heard.kind, heard.words) for heard in alone)
        return alone

    def forget(self) -> None:
        """Another turn: nothing of the one before is an echo."""
        self._recent.clear()
        self._told.clear()
