"""The questions whether calls may run: what a run waits for when it ends."""

from typing import Final

from msgspec import UNSET

from partita.formats.ag_ui.names import APPROVAL
from partita.types.chunks import ToolApprovalRequest
from partita.types.json import JsonObject, is_object

ANSWER: Final[JsonObject] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
"""What an answer to the question whether a call may run looks like."""


def interrupt_of(asked: ToolApprovalRequest) -> JsonObject:
    """A question as something that the run waits for."""
    descriptor, more = asked.approval_descriptor, _metadata(asked)
    if is_object(descriptor) and isinstance(descriptor.get("reason"), str):  # it came as an interrupt
        said: JsonObject = dict(descriptor)
    else:
        said = {"reason": APPROVAL, "responseSchema": ANSWER}
        more = more if descriptor is UNSET else {"descriptor": descriptor, **more}
    if more:
        kept = said.get("metadata")
        said["metadata"] = {**kept, **more} if is_object(kept) else more
    if asked.reason is not None:
        said["message"] = asked.reason
    return {**said, "id": asked.approval_id, "toolCallId": asked.tool_call_id}


def _metadata(asked: ToolApprovalRequest) -> JsonObject:
    """What a question says that an interrupt has no member for."""
    said = {
        "inputSchemaInput": asked.input_schema_input,
        "signature": UNSET if asked.signature is None else asked.signature,
        "isAutomatic": UNSET if asked.is_automatic is None else asked.is_automatic,
    }
    return {name: value for name, value in said.items() if value is not UNSET}
