"""The form that a message came in, kept under the server's name so that it goes back in the same."""

from typing import Final

from partita.types.json import JsonObject

FIELDS: Final = "fields"
"""Members that are not understood, to go back as they came; Gemini's signatures among them."""

CONTENT: Final = "content"
"""The form of the content if it is not the one that is written anyway: `list`, `null`, `absent`, `empty`."""

ROLE: Final = "role"
"""The role of instructions that is not the one the server takes first: `system` or `developer`."""

PLACE: Final = "place"
"""Where a result stands among those of its step, when that is not where its call stands among the calls."""

ITEM: Final = "item"
"""Whether a refusal is an item of the content, not a field of the message."""

SAID: Final = "said"
"""The other fields in which the same reasoning stands."""

THINKING: Final = "thinking"
"""The pieces of a thought as they came, when they are not one text."""

FUNCTION: Final = "function"
"""What a call says of its function besides its name and arguments."""

LEGACY: Final = "function_call"
"""The type of a call of the kind that tool calls replaced."""

WITHIN: Final = "in"
"""The list of a message that something foreign stands in, when it is not the content."""

NO_ANSWER: Final[JsonObject] = {
    "id": "",
    "object": "chat.completion",
    "created": 0,
    "model": "",
    "choices": [],
}
"""The body of no answer at all."""

OF_MESSAGE: Final = frozenset({FIELDS, CONTENT, ROLE})
OF_TEXT: Final = frozenset({FIELDS, ITEM, "refusal", "extra_content"})
OF_REASONING: Final = frozenset({FIELDS, SAID, THINKING, "field"})
OF_CALL: Final = frozenset({FIELDS, FUNCTION, "type", "rawInput"})
OF_RESULT: Final = frozenset({FIELDS, CONTENT, PLACE})
OF_MEDIA: Final = frozenset({FIELDS, "imageDetail"})
"""What is written back of the metadata of each."""
