"""What gives training data away: ShareGPT and ChatML."""

from typing import Final

from partita.types.json import JsonObject

from .sign import Sign, held, is_text

SHAREGPT: Final = "sharegpt"
CHATML: Final = "chatml"
MARK: Final = "<|im_start|>"


def _is_turn(value: JsonObject) -> bool:
    return is_text(value, "from", "value")


def _is_row(value: JsonObject) -> bool:
    return {"role", "content"} == value.keys() and is_text(value, "role", "content")


def _holds_rows(value: JsonObject) -> bool:
    return {"messages"} == value.keys() and held("messages", _is_row)(value)


def _is_text(value: JsonObject) -> bool:
    text = value.get("text")
    return isinstance(text, str) and text.lstrip().startswith(MARK)


SIGNS: Final = (
    Sign(SHAREGPT, 0.97, "conversations of turns with from and value", held("conversations", _is_turn)),
    Sign(SHAREGPT, 0.9, "turns with from and value", _is_turn),
    Sign(CHATML, 0.97, "a text in the marks of ChatML", _is_text),
    Sign(CHATML, 0.38, "nothing but messages of a role and words", _holds_rows),
    Sign(CHATML, 0.3, "a role and words, and nothing else", _is_row),
)
