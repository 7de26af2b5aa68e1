"""Words of agents' logs and of AI SDK streams that show in the form of the messages read from them."""

from typing import Any, Final

from .format import Implied

ANY: Final = "*"
"""At the end of a word: what follows must be held by itself."""

_BLOCKS: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image"})
_EVENTS: Final = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "citations_delta",
        "input_json_delta",
    }
)
_ROLES: Final = frozenset({"system", "user", "assistant"})

CLAUDE_CODE: Final[Implied] = {
    "type": frozenset[Any](
        {*_BLOCKS, *_EVENTS, *_ROLES, "stream_event", "result", "message", "url", "base64"}
    ),
    "subtype": frozenset[Any]({"init", "success"}),
    "role": frozenset[Any](_ROLES),
    "is_error": frozenset[Any]({False}),
}

CODEX: Final[Implied] = {
    "type": frozenset[Any](
        {
            "session_meta",
            "turn_context",
            "response_item",
            "event_msg",
            "message",
            "input_text",
            "output_text",
            "agent_message",
            "user_message",
            "AgentMessage",
            "UserMessage",
            "Text",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
            "context_compacted",
            "patch_apply_end",
            "token_count",
            "item_completed",
            "thread.started",
            "turn.started",
            "turn.completed",
            "item.started",
            "item.completed",
        }
    ),
    "role": frozenset[Any]({*_ROLES, "developer"}),
    "status": frozenset[Any]({"in_progress", "completed"}),
}
