"""Events of work, in rollouts and the first `codex exec --json` → the items that later took their place."""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, is_object

from .fields import error_words, found, inner, present, text, whole

Phase: TypeAlias = Literal["started", "completed"]


class ItemEvent(NamedTuple):
    """An item, and whether it begins or has ended."""

    phase: Phase
    item: JsonObject


def item_event(event: JsonObject) -> ItemEvent | None:
    """The item that an event tells of; `None` for an event that tells of none."""
    kind = event.get("type")
    rule = RULES.get(kind) if isinstance(kind, str) else None
    if rule is None:
        return None
    phase, type_, read = rule
    fields = {name: value for name, value in event.items() if name not in ("type", "call_id")}
    own = text(event, "call_id") or text(event, "id") or ""
    return ItemEvent(phase, {**fields, **read(event, phase), "type": type_, "id": own})


def _command(event: JsonObject, phase: Phase) -> JsonObject:
    if phase == "started":
        return {"status": "in_progress"}
    status = text(event, "status")
    return {"status": status or ("completed" if whole(event, "exit_code") in (0, None) else "failed")}


def _patch(event: JsonObject, phase: Phase) -> JsonObject:
    if phase == "started":
        return {"status": "in_progress"}
    return {"status": text(event, "status") or ("completed" if event.get("success") else "failed")}


def _mcp(event: JsonObject, phase: Phase) -> JsonObject:
    invocation, result = inner(event, "invocation"), event.get("result")
    told = {name: invocation.get(name) for name in ("server", "tool", "arguments")}
    return {**told, "status": "in_progress" if phase == "started" else "completed", **_result(result)}


def _result(result: Json) -> JsonObject:
    """Rust's `{"Ok": …}` or `{"Err": …}`."""
    if is_object(result) and "Err" in result:
        return {"result": None, "error": {"message": error_words(result["Err"])}, "status": "failed"}
    return {"result": result["Ok"] if is_object(result) and "Ok" in result else result}


def _search(event: JsonObject, phase: Phase) -> JsonObject:
    return {"status": "in_progress" if phase == "started" else text(event, "status") or "completed"}


def _dynamic(event: JsonObject, phase: Phase) -> JsonObject:
    return {"status": "in_progress" if phase == "started" else "completed"}


def _image(event: JsonObject, phase: Phase) -> JsonObject:
    return present(status=found(event, "status") or ("in_progress" if phase == "started" else None))


RULES: Final[dict[str, tuple[Phase, str, Callable[[JsonObject, Phase], JsonObject]]]] = {
    "exec_command_begin": ("started", "command_execution", _command),
    "exec_command_end": ("completed", "command_execution", _command),
    "patch_apply_begin": ("started", "file_change", _patch),
    "patch_apply_end": ("completed", "file_change", _patch),
    "mcp_tool_call_begin": ("started", "mcp_tool_call", _mcp),
    "mcp_tool_call_end": ("completed", "mcp_tool_call", _mcp),
    "web_search_begin": ("started", "web_search", _search),
    "web_search_end": ("completed", "web_search", _search),
    "image_generation_begin": ("started", "image_generation", _image),
    "image_generation_end": ("completed", "image_generation", _image),
    "view_image_tool_call": ("completed", "image_view", _image),
    "dynamic_tool_call_request": ("started", "dynamic_tool_call", _dynamic),
    "dynamic_tool_call_response": ("completed", "dynamic_tool_call", _dynamic),
}
