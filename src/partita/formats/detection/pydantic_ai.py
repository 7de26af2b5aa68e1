"""What gives the messages of Pydantic AI away."""

from typing import Final

from partita.types.json import JsonObject, is_array

from .sign import Sign, has_member, parts

PYDANTIC_AI: Final = "pydantic-ai"

_RESPONSE: Final = has_member("model_name", "provider_name", "finish_reason", "usage")


def _is_message(value: JsonObject) -> bool:
    return value.get("kind") in ("request", "response") and is_array(value.get("parts"))


def _has_kinds(value: JsonObject) -> bool:
    return any("part_kind" in part for part in parts(value))


def _is_empty(value: JsonObject) -> bool:
    return _is_message(value) and not value["parts"] and (_RESPONSE(value) or "instructions" in value)


SIGNS: Final = (
    Sign(PYDANTIC_AI, 0.97, "parts with a part_kind", _has_kinds),
    Sign(PYDANTIC_AI, 0.95, "a response or request without parts", _is_empty),
    Sign(PYDANTIC_AI, 0.9, "requests and responses with parts", _is_message),
)
