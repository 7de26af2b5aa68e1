"""Recorded message lists of Mastra, converted to its UI messages."""

from collections.abc import Iterator, Mapping
from typing import Final

from partita.formats.ai_sdk.ui import format as ui
from partita.formats.registry import get_format
from partita.stream.state import Version
from partita.types.json import Json, JsonObject, is_array, is_object
from tests.formats.mastra_messages import load_v2
from tests.formats.test_mastra_corpus import cases
from tests.sampling import sampled

CORE_V4: Final = frozenset({"result", "args", "mimeType", "signature"})
APPROVALS: Final = ("tool-approval-request", "tool-approval-response")
NEW_STATES: Final = ("approval-requested", "approval-responded", "output-denied")
OLD_MEMBERS: Final = frozenset(
    {"toolInvocations", "reasoning", "experimental_attachments", "data", "annotations"}
)

DEVIATIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ml-0020", "ml-0022"), "a pending call becomes an approval request"),
    "ml-0048": "in version 5 a denial is an error without output",
    "ml-0055": "separate reasoning parts are not joined",
    "ml-0175": "reasoning without text is kept for its provider metadata",
    "ml-0198": "a display transform is not an output",
    **dict.fromkeys(("ml-0208", "ml-0272"), "a streaming input is incomplete"),
    "ml-0381": "user messages have no tool calls",
}
"""Intended deviations from Mastra, with the reason."""


def messages_in(case: JsonObject) -> Iterator[JsonObject]:
    for step in case["input"]["ops"]:
        if step["op"] in ("add", "addSystem"):
            given = step["messages"]
            yield from (one for one in (given if is_array(given) else [given]) if is_object(one))


def format_of(message: JsonObject) -> str:
    """Return the format of a message, detected as in Mastra."""
    content = message.get("content")
    if is_object(content) and content.get("format") == 2:
        return "mastra-v2"
    if "threadId" in message or "resourceId" in message:
        return "mastra-v1"
    if "parts" in message:
        return _ui_format(message)
    parts: list[Json] = content if is_array(content) else []
    types = [part.get("type") for part in parts]
    if any(type_ in APPROVALS for type_ in types):
        return "ai-sdk-model-v6"
    is_old = "redacted-reasoning" in types or any(CORE_V4 & part.keys() for part in parts)
    return "ai-sdk-model-v4" if is_old or "experimental_providerMetadata" in message else "ai-sdk-model-v5"


def _ui_format(message: JsonObject) -> str:
    parts: list[JsonObject] = message["parts"]
    if any(p["type"] in ("source-document", "dynamic-tool") or p.get("state") in NEW_STATES for p in parts):
        return "ai-sdk-ui-v6"
    if OLD_MEMBERS & message.keys():
        return "ai-sdk-ui-v4"
    return "ai-sdk-ui-v5" if any(map(_is_v5, parts)) else "ai-sdk-ui-v4"


def _is_v5(part: JsonObject) -> bool:
    match part:
        case {"type": "reasoning"}:
            return "text" in part or "state" in part
        case {"type": "file"}:
            return "mediaType" in part
        case _:
            return "metadata" in part or "toolCallId" in part or part["type"] == "source-url"


def sketch(messages: list[JsonObject]) -> Json:
    """Return the content of UI messages in a comparable form: ids, roles, texts, calls and their states."""
    return [(one["id"], one["role"], [*_sketch_parts(one["parts"])]) for one in messages]


def _sketch_parts(parts: list[JsonObject]) -> Iterator[Json]:
    for part in parts:
        type_: str = part["type"]
        if type_ in ("text", "reasoning"):
            yield (type_, part.get("text"))
        elif type_.startswith("tool-") or type_ == "dynamic-tool":
            name = part.get("toolName", type_.removeprefix("tool-"))
            members = ("toolCallId", "state", "input", "output", "errorText")
            yield (name, *(part.get(member) for member in members))


def test_every_added_message_is_read() -> None:
    for case in sampled(cases("message-list"), 3, lambda case: case["id"]):
        for message in messages_in(case):
            load = get_format(format_of(message)).load
            assert load is not None
            assert load([message]).messages, case["id"]


def test_stored_lists_are_shown_as_by_mastra() -> None:
    assert _shown_differently(5) | _shown_differently(6) == {
        case["id"] for case in cases("message-list") if case["id"] in DEVIATIONS
    }


def _shown_differently(version: Version) -> set[str]:
    wrong = set[str]()
    for case in cases("message-list"):
        rows, shown = case["expected"].get("db"), case["expected"].get(f"aiv{version}.ui")
        if is_array(rows) and is_array(shown):
            drawn = ui.dump(load_v2(rows).messages, version, repair=False).payload
            if sketch(drawn) != sketch(shown):
                wrong.add(case["id"])
    return wrong
