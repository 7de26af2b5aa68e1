"""Names of members as answers spell them: requests may have them in snake_case too, and mean the same."""

import re
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

_JOINT: Final = re.compile(r"_([a-z0-9])")

PART_NAMES: Final = frozenset(
    {
        "code_execution_result",
        "executable_code",
        "file_data",
        "function_call",
        "function_response",
        "inline_data",
        "media_resolution",
        "part_metadata",
        "thought_signature",
        "tool_call",
        "tool_response",
        "video_metadata",
    }
)
HELD_NAMES: Final = frozenset(
    {"display_name", "file_uri", "mime_type", "partial_args", "tool_type", "will_continue"}
)
"""Members of what a part holds. What stands in arguments and answers of tools is left alone."""

ASKED_NAMES: Final = frozenset({"system_instruction"})

ANSWER_NAMES: Final = frozenset(
    {"create_time", "model_status", "model_version", "prompt_feedback", "response_id", "usage_metadata"}
)
CANDIDATE_NAMES: Final = frozenset(
    {
        "avg_logprobs",
        "citation_metadata",
        "finish_message",
        "finish_reason",
        "grounding_metadata",
        "logprobs_result",
        "safety_ratings",
        "token_count",
        "url_context_metadata",
    }
)


def camel(name: str) -> str:
    """A name without its underscores."""
    return _JOINT.sub(lambda found: found[1].upper(), name)


def spelled(members: JsonObject, names: frozenset[str]) -> JsonObject:
    """An object with those of its members renamed."""
    if members.keys().isdisjoint(names):
        return members
    return {camel(key) if key in names else key: value for key, value in members.items()}


def spelled_part(part: Json) -> Json:
    """A part, and what it holds."""
    if not is_object(part):
        return part
    found = spelled(part, PART_NAMES)
    for value in found.values():
        if is_object(value) and not HELD_NAMES.isdisjoint(value):
            held = {key: spelled(value, HELD_NAMES) for key, value in found.items() if is_object(value)}
            return {**found, **held}
    return found


def spelled_answer(response: Json) -> Json:
    """A response, its candidates, and the parts of their contents."""
    if not is_object(response):
        return response
    found = _deeply(spelled(response, ANSWER_NAMES), ANSWER_NAMES)
    candidates = found.get("candidates")
    if not is_array(candidates):
        return found
    return {**found, "candidates": [_candidate(candidate) for candidate in candidates]}


def _candidate(candidate: Json) -> Json:
    if not is_object(candidate):
        return candidate
    found = _deeply(spelled(candidate, CANDIDATE_NAMES), CANDIDATE_NAMES)
    content = found.get("content")
    parts = content.get("parts") if is_object(content) else None
    if not is_object(content) or not is_array(parts):
        return found
    return {**found, "content": {**content, "parts": [spelled_part(part) for part in parts]}}


def _deeply(members: JsonObject, names: frozenset[str]) -> JsonObject:
    """The members that hold the provider's words alone, spelt so all the way down."""
    inner = {camel(name) for name in names} & members.keys()
    return {**members, **{name: _all(members[name]) for name in inner}}


def _all(value: Json) -> Json:
    if is_object(value):
        return {camel(key): _all(inner) for key, inner in value.items()}
    if is_array(value):
        return [_all(inner) for inner in value]
    return value
