"""What Pydantic AI writes of everything, and what each member is when nothing is said."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from partita.formats.framework.members import Members
from partita.types.json import Json, JsonObject, is_object

NAME: Final = "pydantic-ai"
"""The namespace of what Pydantic AI alone knows, in provider metadata."""

_ITEM: Final[JsonObject] = {"vendor_metadata": None}
_URL: Final[JsonObject] = {"force_download": False, **_ITEM}
_MADE: Final[JsonObject] = {"id": None, "provider_name": None, "provider_details": None}
_CALL: Final[JsonObject] = {"tool_kind": None, **_MADE}
_RETURN: Final[JsonObject] = {"tool_kind": None, "metadata": None, "outcome": "success"}

DEFAULTS: Final[Mapping[str, JsonObject]] = {
    "request": {
        "timestamp": None,
        "instructions": None,
        "run_id": None,
        "conversation_id": None,
        "metadata": None,
        "state": "complete",
    },
    "response": {
        "model_name": None,
        "model_id": None,
        "provider_name": None,
        "provider_url": None,
        "canonical_system": None,
        "provider_details": None,
        "provider_response_id": None,
        "finish_reason": None,
        "run_id": None,
        "conversation_id": None,
        "metadata": None,
        "workspace_ref": None,
        "history_digest": None,
        "failed_attempts": None,
        "state": "complete",
    },
    "system-prompt": {"dynamic_ref": None, "context_id": None, "scope": "conversation", "metadata": None},
    "user-prompt": {},
    "tool-return": {**_RETURN, "retry": None, "content_file_digests": []},
    "retry-prompt": {"tool_name": None},
    "retry-feedback": {},
    "text": {**_MADE, "citations": None},
    "thinking": {**_MADE, "signature": None},
    "tool-call": _CALL,
    "builtin-tool-call": _CALL,
    "builtin-tool-return": {
        **_RETURN,
        "provider_name": None,
        "provider_details": None,
        "content_file_digests": [],
    },
    "file": _MADE,
    "compaction": {**_MADE, "metadata": None},
    "image-url": _URL,
    "audio-url": _URL,
    "video-url": _URL,
    "document-url": _URL,
    "binary": _ITEM,
    "uploaded-file": _ITEM,
    "text-content": {"metadata": None},
}
"""By kind: the members that need not be there, and what their absence says."""


def members_of(raw: JsonObject, kind: str, *names: str) -> Members:
    """The members of something, without its kind and without those that say nothing."""
    default = DEFAULTS[kind].get
    return Members(
        {
            name: value
            for name, value in raw.items()
            if name not in names
            and value is not (silent := default(name, UNSET))
            and (silent is None or silent is UNSET or not _is_same(value, silent))
        }
    )


def _is_same(a: Json, b: Json) -> bool:
    return type(a) is type(b) and bool(a == b)


def written(kind: str, *parts: Mapping[str, Any]) -> JsonObject:
    """Something of a kind with all its members; what comes later wins."""
    whole: JsonObject = dict(DEFAULTS[kind])
    for part in parts:
        whole.update(part)
    if isinstance(whole.get("content"), str) and whole.get("content_file_digests") == []:
        del whole["content_file_digests"]  # text has no files
    return whole


def object_of(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if is_object(value) else {}
