"""What servers that speak Chat Completions do differently with what they are sent.

A server that is not here: take the nearest and `dataclasses.replace` what differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning", "reasoning_details", "thinking"]
"""Where reasoning goes back: fields of the message, or `thinking` items of its content."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one server wants its requests."""

    name: str
    namespace: str
    """Whose metadata are its own: what `ChatDecoder` was given to read its answers."""
    system_role: Literal["system", "developer"] = "system"
    system_anywhere: bool = True
    """Whether instructions may stand between turns; else there is one system message, the first."""
    reasoning: ReasoningField | None = None
    replays: Literal["turn", "always"] = "always"
    """Whether reasoning goes back only while the turn it belongs to is at work."""
    needs_reasoning: bool = False
    """Whether an answer without reasoning must say so with an empty one."""
    refusals: bool = False
    """Whether a refusal has a field of its own."""
    lists_of_text: bool = True
    """Whether content that is only text may be a list."""
    fetches_files: bool = False
    """Whether files other than pictures may be given by their address."""
    nine_letter_ids: bool = False
    user_after_tool: bool = True
    """Whether a user message may stand right behind the results of tools."""
    stream_options: bool = True
    """Whether it knows `stream_options`; those that do not tell the usage anyway."""
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


OPENAI: Final = Dialect(
    "openai", "openai", system_role="developer", refusals=True, max_tokens="max_completion_tokens"
)
GENERIC: Final = Dialect("generic", "openai", system_anywhere=False, lists_of_text=False)

DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        OPENAI,
        GENERIC,
        Dialect("openrouter", "openrouter", reasoning="reasoning_details", fetches_files=True),
        # As its fourth version wants it. The first reasoner refuses its own words: `reasoning=None`.
        Dialect(
            "deepseek",
            "deepseek",
            reasoning="reasoning_content",
            needs_reasoning=True,
            lists_of_text=False,
        ),
        Dialect("groq", "groq", reasoning="reasoning", replays="turn", max_tokens="max_completion_tokens"),
        Dialect(
            "mistral",
            "mistral",
            system_anywhere=False,
            reasoning="thinking",
            nine_letter_ids=True,
            user_after_tool=False,
            stream_options=False,
        ),
        Dialect("ollama", "ollama", reasoning="reasoning", replays="turn", lists_of_text=False),
        Dialect("vllm", "vllm", system_anywhere=False, reasoning="reasoning", replays="turn"),
        Dialect("xai", "xai"),
    )
}
"""Servers by name."""
