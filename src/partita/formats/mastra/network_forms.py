"""How a V2 row holds a network execution: as a part, in a field of its own, as JSON in a text, or both."""

from typing import Final, Literal, TypeAlias, get_args

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, NetworkExecution

from .network_part import network_part
from .network_string import Nested, network_payload, network_string

NetworkForm: TypeAlias = Literal["part", "field", "string", "both"]
"""`part`: a `dynamic-tool` part. `field`: `content.networkExecution`, beside the text of the result.
`string`: JSON in a text part, for older readers. `both`: that and the field."""

FIELD: Final = "networkExecution"

LEGACY_NETWORK: Final = "legacyNetwork"
"""In the metadata of a message: its network execution is written as a JSON string too, for older readers."""


def checked_form(form: str | None) -> None:
    """Refuse a form that there is not."""
    if form is not None and form not in get_args(NetworkForm):
        raise ConversionError(
            f"no form {form!r} of network executions",
            where="network",
            hint=f"use {', '.join(get_args(NetworkForm))}",
        )


def form_of(message: Message, form: NetworkForm | None) -> NetworkForm:
    """The form that a message is written in: the one that is asked for, else what its metadata says."""
    if form is not None:
        return form
    metadata: Json = message.content.metadata
    return "both" if is_object(metadata) and metadata.get(LEGACY_NETWORK) is True else "part"


def add_network(
    content: JsonObject,
    message: AssistantMessage,
    execution: NetworkExecution,
    form: NetworkForm,
    nested: Nested,
) -> None:
    """Add the network execution of a message to its V2 content."""
    if form == "part":
        content["parts"].append(network_part(message))
        return
    if form in ("string", "both"):
        content["parts"].append({"type": "text", "text": network_string(message.id, execution)})
    if form in ("field", "both"):
        content[FIELD] = network_payload(message.id, execution, nested)
    text = execution.final_result.text if execution.final_result else None
    has_text = any(is_object(part) and part.get("type") == "text" for part in content["parts"])
    if text and not has_text:
        content["parts"].append({"type": "text", "text": text})
