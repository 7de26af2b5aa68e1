"""Canonical messages → model messages that `generateText` of AI SDK 5, 6 and 7 accepts.

`dump` writes messages as they are. The SDK refuses some of them: a call without a result
(`AI_MissingToolResultsError`), a call without input, provider options that are not objects, a file whose URL
is invalid.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.losses import NO_PLACE, OBJECTS, REQUIRED, Loss, relocate
from partita.formats.model_view import OpenCalls, repair_calls
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ContentOutput, FilePart, ImagePart, ReasoningFilePart, SteeringMessagePart
from partita.types.tool_results import Origin
from partita.types.value import Value

from .files import has_scheme
from .format import dump

METADATA: Final[Mapping[str, str]] = {
    "provider_metadata": "providerMetadata",
    "call_provider_metadata": "callProviderMetadata",
    "result_provider_metadata": "resultProviderMetadata",
}
"""Fields that become provider options, and their names on the wire."""

REFERENCES: Final = 7
"""The first version that has files by a provider's reference."""

ValueT = TypeVar("ValueT", bound=Value)


def to_model_messages(
    messages: Sequence[Message],
    *,
    version: int = 7,
    open_calls: OpenCalls = "answer",
    flatten_text: bool = False,
) -> Dumped:
    """Write messages as `generateText` and `streamText` accept them: every call has exactly one result.

    Calls whose input was cut off are removed, and so are results without a call and second results.
    `open_calls`: a call without a result gets one (`answer`) or is removed (`remove`). `flatten_text`:
    adjoining texts are joined, and a message that is only text has a string as its content. The losses
    include every repair, with its path in `messages`.
    """
    repaired = repair_calls(messages, open_calls=open_calls, flatten_text=flatten_text)
    losses: list[Loss] = []
    accepted: list[Message] = []
    origins: list[Origin] = []
    for index, (message, origin) in enumerate(zip(repaired.messages, repaired.origins, strict=True)):
        path = f"$[{index}].content"
        content: Any = _with_options(message.content, path, losses)
        numbered = list(_parts(content.parts, f"{path}.parts", version, losses))
        accepted.append(replace(message, content=replace(content, parts=tuple(part for _, part in numbered))))
        origins.append(origin._replace(parts=[origin.parts[number] for number, _ in numbered]))
    dumped = dump(accepted, version)
    moved = (*relocate(losses, repaired.origins), *relocate(dumped.losses, origins))
    return Dumped(dumped.payload, (*repaired.repairs, *moved))


def _parts(parts: Sequence[Any], path: str, version: int, losses: list[Loss]) -> Iterator[tuple[int, Any]]:
    """Yield the parts that the SDK accepts, and their numbers."""
    for number, part in enumerate(parts):
        where = f"{path}[{number}]"
        if isinstance(part, FilePart | ImagePart | ReasoningFilePart) and not _has_url(part, version):
            losses.append(Loss.of(where, part, NO_PLACE))
        else:
            yield number, _part(part, where, version, losses)


def _has_url(part: FilePart | ImagePart | ReasoningFilePart, version: int) -> bool:
    referenced = isinstance(part, FilePart) and part.provider_reference is not None and version >= REFERENCES
    return referenced or has_scheme(part.url)


def _part(part: Any, path: str, version: int, losses: list[Loss]) -> Any:
    part = _with_options(part, path, losses)
    if isinstance(part, SteeringMessagePart):
        inner = _parts(part.parts, f"{path}.parts", version, losses)
        return replace(part, parts=tuple(item for _, item in inner))
    if not isinstance(part, ToolCallPart):
        return part
    if part.input is UNSET or part.input is None:  # version 6 leaves it out of a failed call
        given = {} if part.raw_input in (UNSET, None) else part.raw_input
        losses.append(Loss.of(f"{path}.input", given, REQUIRED, "repaired"))
        part = replace(part, input=given, raw_input=UNSET)
    if part.output is not None:
        output = _with_options(part.output, f"{path}.output", losses)
        if isinstance(output, ContentOutput):
            items = _parts(output.value, f"{path}.output.value", version, losses)
            output = replace(output, value=tuple(item for _, item in items))
        part = replace(part, output=output)
    if part.result_message is not None:
        origin = part.result_message
        content = _with_options(origin.content, f"{path}.resultMessage.content", losses)
        part = replace(part, result_message=replace(origin, content=content))
    return part


def _with_options(value: ValueT, path: str, losses: list[Loss]) -> ValueT:
    """Return a value whose provider metadata the SDK accepts as provider options."""
    for name, wire_name in METADATA.items():
        metadata: JsonObject | None = getattr(value, name, None)
        wrong = [key for key, item in (metadata or {}).items() if not is_object(item)]
        if metadata is not None and wrong:
            losses += [Loss.of(f"{path}.{wire_name}.{key}", metadata[key], OBJECTS) for key in wrong]
            kept = {key: item for key, item in metadata.items() if key not in wrong}
            value = replace(value, **{name: kept or None})
    return value
