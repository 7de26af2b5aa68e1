"""What gives requests, messages, responses and streams of Amazon Bedrock Converse away."""

from typing import Final

from partita.types.json import JsonObject, is_object

from .sign import Sign, alone_or_held, any_item, has_member, inner, is_text

BEDROCK: Final = "bedrock-converse"

EVENTS: Final = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    }
)
BLOCKS: Final = frozenset(
    {"toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint"}
)
MEDIA: Final = frozenset({"image", "document", "video", "audio"})


def _is_event(value: JsonObject) -> bool:
    return len(value) == 1 and any(name in EVENTS and is_object(value[name]) for name in value)


def _is_response(value: JsonObject) -> bool:
    return "stopReason" in value and is_object(inner(value, "output").get("message"))


def _is_error(value: JsonObject) -> bool:
    return is_text(value, "__type")


def _is_block(block: JsonObject) -> bool:
    """A block has no type: the name of its member is its type."""
    if "type" in block:
        return False
    return not BLOCKS.isdisjoint(block) or any(is_object(inner(block, name).get("source")) for name in MEDIA)


def _is_text(block: JsonObject) -> bool:
    return "type" not in block and is_text(block, "text")


def _has_settings(body: JsonObject) -> bool:
    return has_member("inferenceConfig", "toolConfig", "guardrailConfig", "promptVariables")(body) and (
        "messages" in body or "modelId" in body
    )


SIGNS: Final = (
    Sign(BEDROCK, 0.97, "events of ConverseStream", _is_event),
    Sign(BEDROCK, 0.97, "an output with a stop reason", _is_response),
    Sign(BEDROCK, 0.6, "an error of AWS", _is_error),
    Sign(BEDROCK, 0.95, "blocks of Converse", alone_or_held(any_item(_is_block))),
    Sign(BEDROCK, 0.85, "texts without a type", alone_or_held(any_item(_is_text))),
    Sign(BEDROCK, 0.95, "settings of Converse", _has_settings),
)
