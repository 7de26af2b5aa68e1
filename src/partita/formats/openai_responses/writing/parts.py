"""What of the parts of a message does not arrive, part by part."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.bare import is_bare, is_bare_message
from partita.formats.losses import Loss
from partita.formats.openai_responses.fields import NAMESPACE, text
from partita.formats.openai_responses.reading.content import read_content
from partita.formats.openai_responses.request_calls import fit_call_id
from partita.formats.openai_responses.request_content import NO_PLACE, Shown, content_of, own
from partita.formats.openai_responses.request_steps import BEGINS, CONTINUES, FORM
from partita.formats.openai_responses.tools import fit_name
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantPart, Message, ToolCallPart, derive_type
from partita.types.parts import DataPart, ForeignPart, ImagePart, ReasoningPart, TextPart, UnknownPart
from partita.types.tools import JsonOutput, TextOutput

from .comparing import CALL, IMAGE, REASONS, difference

PLACED: Final = (CONTINUES, BEGINS, FORM)
"""Marks that follow from the place of a part among others."""


def tell_shown(parts: Sequence[Shown], where: str, losses: list[Loss]) -> None:
    """Tell what of the parts that a user or a tool shows is not in what they become."""
    for place, part in enumerate(parts):
        if type(part) is TextPart and is_bare(part):
            continue
        path = f"{where}[{place}]"
        told: list[Loss] = []
        written = content_of([part], path, told)
        if not written:
            losses.append(Loss.of(path, part, told[0].why if told else NO_PLACE))
            continue
        again = to_json(read_content([*written])[0])
        plain = to_json(part)
        if isinstance(part, ImagePart) and again["type"] == "image":
            losses += difference(plain, again, path, IMAGE)
        else:
            losses += difference(_alike(plain, again), again, path)


def plain_losses(part: AssistantPart, path: str) -> Sequence[Loss] | None:
    """What of a plain part does not arrive; `None` for one that needs a closer look. Most do not."""
    match part:
        case TextPart(state=None | "done") if part == TextPart(part.text, state=part.state):
            return ()
        case ToolCallPart(output=TextOutput()) if _is_plain(part):
            return ()
        case ToolCallPart(output=JsonOutput(value=value)) if _is_plain(part):
            why = CALL["output"].why
            return (
                Loss.of(f"{path}.output.type", "json", why, "changed"),
                Loss.of(f"{path}.output.value", value, why, "changed"),
            )
        case _:
            return None


def _is_plain(call: ToolCallPart) -> bool:
    """Whether all that a call says besides its output arrives, and the output says no more than a value."""
    return (
        call.state == "output-available"
        and is_object(call.input)
        and is_bare(call)
        and call.output is not None
        and is_bare(call.output)
        and call.name == fit_name(call.name)
        and call.id == fit_call_id(call.id)
    )


def tell_part(part: AssistantPart, again: AssistantPart, path: str) -> list[Loss]:
    """What of a part is not in the part that it is read as."""
    if part == again:
        return []
    if isinstance(part, ToolCallPart) and isinstance(again, ToolCallPart):
        reasons = CALL if part.output is not None else {**CALL, "state": CALL["approval"]}
        return list(difference(_call(part), to_json(again), path, reasons))
    before: JsonObject = to_json(_bare(part))
    after: JsonObject = to_json(_bare(again))
    if isinstance(part, ReasoningPart) and _is_made(part):
        after["id"] = part.id
    return list(difference(before, after, path, {**REASONS, "id": REASONS["itemId"]}))


def _alike(plain: JsonObject, again: JsonObject) -> JsonObject:
    """A file that is read as an image, without what the kinds of parts call otherwise."""
    if plain["type"] == "file" and again["type"] == "image":
        return {**plain, "type": "image"}
    return plain


def _is_made(part: ReasoningPart) -> bool:
    """Whether the id of a reasoning is one that reading makes."""
    source = text(own(part.provider_metadata), "itemId")
    return bool(source) and part.id is not None and part.id.rpartition(":")[0] == source


def _call(call: ToolCallPart) -> JsonObject:
    """A call as JSON; that it only waits is told by what follows it."""
    plain: JsonObject = to_json(call)
    if call.output is None and call.state == "input-available":
        del plain["state"]
    return plain


def _bare(part: AssistantPart) -> AssistantPart:
    """A part without the marks of its place."""
    if (
        isinstance(part, ToolCallPart | ForeignPart | UnknownPart | DataPart)
        or part.provider_metadata is None
    ):
        return part
    said = {name: value for name, value in own(part.provider_metadata).items() if name not in PLACED}
    rest = {name: value for name, value in part.provider_metadata.items() if name != NAMESPACE}
    metadata = {**rest, **({NAMESPACE: said} if said else {})}
    return replace(part, provider_metadata=metadata or None)


def shell_losses(message: Message, again: Message, path: str) -> Iterator[Loss]:
    """What of a message around its parts is not in the message that it is read as."""
    if is_bare_message(message):
        if message.id != again.id:
            yield Loss.of(f"{path}.id", message.id, REASONS["id"].why, "lost")
        return
    after = {**shell(again), "type": derive_type(message.parts)}
    yield from difference(shell(message), after, path)


def shell(message: Message) -> JsonObject:
    """A message as JSON, without its parts."""
    plain: JsonObject = to_json(replace(message, content=replace(message.content, parts=())))  # pyright: ignore[reportArgumentType] # each role takes its own content
    return plain


def unnumbered(part: JsonObject) -> JsonObject:
    """A part as JSON, without the id that counts sources."""
    return {name: said for name, said in part.items() if name != "sourceId"}
