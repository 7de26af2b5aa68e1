"""What a payload of Gemini says that shows in the form of the messages made of it."""

from typing import Any, Final

from partita.formats.format import Implied

IMPLIED: Final[Implied] = {
    "role": frozenset[Any]({"user", "model", "function"}),
    "thought": frozenset[Any]({True, False}),
    "willContinue": frozenset[Any]({True, False}),
    "will_continue": frozenset[Any]({True, False}),
    "nullValue": frozenset[Any]({"NULL_VALUE"}),
    "index": frozenset[Any]({0}),
}
