"""JSON values made short enough to be shown: long texts, long lists and deep nests are cut."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

LONGEST_TEXT: Final = 20_000
MOST_ITEMS: Final = 500
DEEPEST: Final = 24
ELLIPSIS: Final = "…"


class Shortener:
    """Gives values cut to size, and knows how much it may still give in all."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def __call__(self, value: Json) -> Json:
        """The value; where something of it is left out, an ellipsis stands."""
        return self._shortened(value, DEEPEST)

    def _shortened(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if is_object(value):
            return self._object(value, depth) if depth else ELLIPSIS
        if is_array(value):
            return self._array(value, depth) if depth else ELLIPSIS
        self._left -= 8
        return value

    def _text(self, text: str) -> str:
        kept = text[: max(min(LONGEST_TEXT, self._left), 0)]
        self._left -= len(kept)
        return kept if len(kept) == len(text) else kept + ELLIPSIS

    def _array(self, items: list[Json], depth: int) -> list[Json]:
        kept = [self._shortened(item, depth - 1) for item in items[:MOST_ITEMS]]
        return kept if len(items) <= MOST_ITEMS else [*kept, ELLIPSIS]

    def _object(self, members: JsonObject, depth: int) -> JsonObject:
        kept: JsonObject = {}
        for key, value in list(members.items())[:MOST_ITEMS]:
            self._left -= len(key)
            kept[key] = self._shortened(value, depth - 1)
        return kept if len(members) <= MOST_ITEMS else {**kept, ELLIPSIS: ELLIPSIS}
