"""Words of agents' logs and of AI SDK streams that show in the form of the messages read from them."""

from typing import Any, Final

from .format import Implied

ANY: Final = "*"
"""At the end of a word: what follows must be held by itself."""

_ROLES: Final = frozenset({"system", "user", "assistant"})

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

AI_SDK_UI: Final[Implied] = {
    "role": frozenset[Any](_ROLES),
    "type": frozenset[Any]({"tool-*", "data-*", "dynamic-tool", "tool-invocation", "source"}),
    "sourceType": frozenset[Any]({"url", "document"}),
    "state": frozenset[Any]({"call", "partial-call", "result"}),
    "step": frozenset[Any](range(100)),  # calls are told by the steps they stand in
}
