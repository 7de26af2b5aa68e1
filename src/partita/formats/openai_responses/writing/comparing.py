"""What of canonical values does not arrive: whatever reading again what was written does not give.

Found by comparison, not by rules, so that nothing can be forgotten. The tables only give the reasons.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from partita.formats.losses import Loss, Severity
from partita.formats.openai_responses.amending import is_same
from partita.formats.openai_responses.fields import NAMESPACE
from partita.formats.openai_responses.request_outputs import NO_FLAG
from partita.types.json import Json, is_array, is_object


class Reason(NamedTuple):
    """Why a member does not arrive, and how bad that is."""

    why: str
    severity: Severity | None = None
    """`None`: `lost` if it is gone, `changed` if there is something else in its place."""


SPACES: Final = frozenset({"providerMetadata", "callProviderMetadata", "resultProviderMetadata", NAMESPACE})
"""Objects whose members are told one by one."""

NO_PLACE: Final = Reason("an item has no place for it")
_DISPLAY: Final = Reason("it is for display only")
_COST: Final = Reason("items do not tell what they cost")
_NAME: Final = Reason("names have at most 64 letters, digits, _ and -", "repaired")

REASONS: Final[Mapping[str, Reason]] = {
    "id": Reason("items are no messages, and have no such id", "lost"),
    "threadId": Reason("items do not name their thread"),
    "createdAt": Reason("items have no time"),
    "resourceId": Reason("items do not name their owner"),
    "parentId": Reason("items form one line, without branches"),
    "runId": Reason("items do not name their run"),
    "seq": Reason("items are in order by their place in the list", "minor"),
    "internal": Reason("items are all for the model"),
    "metadata": Reason("items have no metadata"),
    "usage": _COST,
    "tokenCount": _COST,
    "networkExecution": Reason("the model sees no more of it than its words"),
    "content": Reason("items hold their words once", "minor"),
    "signature": Reason("signatures of another provider are never forwarded"),
    "title": _DISPLAY,
    "toolMetadata": _DISPLAY,
    "citations": Reason("citations of another provider"),
    "state": Reason("an item is always whole", "minor"),
    "inputEncoding": Reason("the input of a function is JSON", "changed"),
    "preliminary": Reason("the model sees every output as final"),
    "dynamic": Reason("items do not tell dynamic tools from static ones"),
    "children": Reason("the model does not see what a sub-agent said"),
    "resultMessage": Reason("an output is an item of its own, without a message around it", "minor"),
    "approval": Reason("only tools of MCP servers are approved here"),
    "itemId": Reason("ids of items are the provider's own: a foreign one is left out", "repaired"),
    "reasoningEncryptedContent": NO_PLACE,
    "output": Reason("an output is words, or content to look at", "changed"),
    "mediaType": Reason("a url says it, or nobody does"),
    "filename": Reason("only files that come as data have a name"),
    "name": _NAME,
}
"""By the name of a member."""

CALL: Final[Mapping[str, Reason]] = {
    **REASONS,
    "id": Reason("ids of calls have at most 64 characters", "repaired"),
    "state": Reason(NO_FLAG, "changed"),
}
IMAGE: Final[Mapping[str, Reason]] = {**REASONS, "name": NO_PLACE}


def difference(
    before: Json, after: Json, path: str, reasons: Mapping[str, Reason] = REASONS, reason: Reason = NO_PLACE
) -> Iterator[Loss]:
    """Everything in `before` that is not in `after`."""
    if before is after or is_same(before, after):
        return
    if is_object(before) and is_object(after) and before:
        for key, item in before.items():
            inside = reasons.get(key, reason)
            if key in after or (key in SPACES and is_object(item)):
                around = NO_PLACE if key in SPACES or (is_object(item) and key == "content") else inside
                yield from difference(item, after.get(key, {}), f"{path}.{key}", REASONS, around)
            else:
                yield Loss.of(f"{path}.{key}", item, inside.why, inside.severity or "lost")
    elif is_array(before) and is_array(after) and before and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from difference(item, other, f"{path}[{index}]", REASONS, reason)
    else:
        yield Loss.of(path, before, reason.why, reason.severity or "changed")
