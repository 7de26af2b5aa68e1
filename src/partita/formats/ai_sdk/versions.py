"""The versions of the AI SDK that have each part and member, signatures of version 4, and names of usage.

UI messages have the canonical parts under the same names, so `types.parts` is their schema too, and these
tables list the differences. Releases: 5.0.277, 6.0.326, 7.0.169. Chunks have such tables in `stream.targets`.

Source: https://github.com/vercel/ai/blob/main/packages/ai/src/ui/validate-ui-messages.ts
"""

from collections.abc import Mapping, Set
from functools import cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from partita.errors import FormatError
from partita.stream.state import Version
from partita.stream.targets import Since, Target
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import (
    Approval,
    CustomPart,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
)
from partita.types.usage import Usage, UsageNames

VERSIONS: Final[tuple[Version, ...]] = (5, 6, 7)
"""Major versions of the SDK whose rules are known."""

SIX: Final = Since(None)
SEVEN: Final = Since(None, None)

PARTS: Final[Mapping[type[Any], Since]] = {
    TextPart: Since(),
    ReasoningPart: Since(),
    CustomPart: SEVEN,
    SourceUrlPart: Since(),
    SourceDocumentPart: Since(),
    FilePart: Since(),
    ReasoningFilePart: SEVEN,
    SteeringMessagePart: SEVEN,
    StepStartPart: Since(),
}
"""The parts of UI messages besides tool and data parts."""

MEMBERS: Final[Mapping[type[Any], Mapping[str, Since]]] = {
    TextPart: {"citations": SEVEN},
    FilePart: {"provider_reference": SEVEN},
    Approval: {
        "descriptor": SIX,
        "signature": SIX,
        "input_schema_input": SIX,
        "request_reason": SEVEN,
        "is_automatic": SEVEN,
    },
}
"""Members that not every version has."""

CANONICAL_ONLY: Final[Mapping[type[Any], Set[str]]] = {
    ReasoningPart: {"token_count"},
    ReasoningFilePart: {"filename"},
    SteeringMessagePart: {"provider_metadata"},
    StepStartPart: {"provider_metadata"},
    Approval: {"responded_by", "responded_at"},
    DataChunk: {"transient"},  # a part of a message is never transient
}
"""Members that no version has in messages."""


PART_TYPES: Final[Mapping[str, type[Any]]] = {str(type_.__struct_config__.tag): type_ for type_ in PARTS}
"""The same parts by their names."""


@cache
def newer_members(type_: type[Any], version: Version) -> tuple[str, ...]:
    """Return the members of a part or an approval, by wire name, that a version does not have."""
    since = MEMBERS.get(type_, {})
    fields = [one for one in msgspec.structs.fields(type_) if one.name in since]
    return tuple(one.encode_name for one in fields if not Target(version).knows(since[one.name]))


def check_version(version: int) -> int:
    """Return the version if its rules are known, else raise an error."""
    if version not in VERSIONS:
        raise FormatError(f"no rules for version {version} of the AI SDK", hint="use 5, 6 or 7")
    return version


# Version 4 does not name the provider of signed or redacted reasoning. Only Anthropic had such reasoning:
# https://github.com/vercel/ai/blob/v4/packages/ui-utils/src/types.ts

SIGNER: Final = "anthropic"
SIGNATURE: Final = "signature"
REDACTED: Final = "redactedData"


def signed(metadata: JsonObject | None, name: str, value: str) -> JsonObject | None:
    """Return provider metadata with a signature or redacted data; `None` if it has one already."""
    given = metadata or {}
    own: Json = given.get(SIGNER, {})
    if not is_object(own) or name in own:
        return None
    return {**given, SIGNER: {**own, name: value}}


def signature_in(metadata: JsonObject | None, name: str) -> str | None:
    """Return a signature or redacted data from provider metadata."""
    own: Json = metadata.get(SIGNER) if metadata else None
    found: Json = own.get(name) if is_object(own) else None
    return found if isinstance(found, str) else None


def unsigned(metadata: JsonObject | None, name: str) -> JsonObject:
    """Return provider metadata without a signature or redacted data."""
    given = dict(metadata or {})
    own = {key: value for key, value in given.pop(SIGNER, {}).items() if key != name}
    return {**given, **({SIGNER: own} if own else {})}


USAGE: Final = UsageNames(
    input=["inputTokens"],
    output=["outputTokens"],
    total=["totalTokens"],
    reasoning=["reasoningTokens", "outputTokenDetails.reasoningTokens"],
    cached=["cachedInputTokens", "inputTokenDetails.cacheReadTokens"],
    cache_write=["cacheCreationInputTokens", "inputTokenDetails.cacheWriteTokens"],
)
"""The counts of `LanguageModelUsage` of AI SDK 5 to 7, which has some twice, and of Mastra."""


def ai_sdk_usage(raw: JsonObject) -> Usage:
    """Return the usage for an object of the AI SDK or Mastra, which `raw` keeps."""
    return replace(USAGE.read_counts(raw), raw=raw)
