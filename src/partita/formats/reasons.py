"""Why values are lost: the reasons that several formats have in common.

A reason is a sentence about the value at the path of a loss. A format adds one of its own only if none of
these is true.
"""

from typing import Final

NO_PLACE: Final = "the format has no place for it"
UNREAD: Final = "messages have no place for it"
REPLACED: Final = "a later value has replaced it"
REQUIRED: Final = "the format requires it"
NO_CALL: Final = "the result has no call right before it"
JOINED: Final = "neighbouring texts or messages are joined"
DERIVED: Final = "it follows from other values"
ORDERED: Final = "the format has another order"
STEPS: Final = "steps begin at other places in the format"
FINAL: Final = "every output is final"
SHOWN: Final = "the format has no hidden messages"
RESPONSE: Final = "a body is one response of the model"
RENAMED: Final = "the API takes only some characters in ids and names, and limits their length"
BLANK: Final = "the API refuses text that is empty or only white space"
OTHER_ID: Final = "it gets another id when it is read back"
OTHER_INPUT: Final = "the call has another input or name"
OTHER_FORM: Final = "it is written in another form"
OUTPUT_FORM: Final = "an output is text or JSON there, without its type"
IN_CALLS: Final = "results are in their calls"
SIGNED: Final = "the API takes only reasoning that it signed"
CITATIONS: Final = "the API takes only its own citations"
OBJECTS: Final = "only objects are allowed there"
FILES_MOVED: Final = "files of a result are written behind the results"
DISPLAY: Final = "it is for display only"
SETTING: Final = "it is a setting of another API"
NOT_MODEL: Final = "it is not for the model"
