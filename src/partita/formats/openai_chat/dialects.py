"""The requests that servers with Chat Completions accept.

For another server, take the most similar dialect, and replace its differences with `dataclasses.replace`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .wire import NAME

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning", "reasoning_details", "thinking"]
"""The place where reasoning is sent back: members of the message, or `thinking` items of its content."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The requests of one server."""

    name: str
    namespace: str
    """Its namespace in provider metadata, which `ChatDecoder` gets to read its responses."""
    system_role: Literal["system", "developer"] = "system"
    system_anywhere: bool = True
    """Whether instructions may be between messages. Otherwise there is one system message, the first."""
    reasoning: ReasoningField | None = None
    replays: Literal["turn", "always"] = "always"
    """Whether reasoning is sent back only until the next prompt of the user."""
    needs_reasoning: bool = False
    """Whether a response without reasoning needs an empty one."""
    refusals: bool = False
    """Whether a refusal has a separate member."""
    lists_of_text: bool = True
    """Whether content that is only text may be a list."""
    fetches_files: bool = False
    """Whether files other than images may be given by their URL."""
    nine_letter_ids: bool = False
    user_after_tool: bool = True
    """Whether a user message may directly follow results of tools."""
    stream_options: bool = True
    """Whether it has `stream_options`. Servers without it always send the usage."""
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    @property
    def format_name(self) -> str:
        """The name of the server's format."""
        return NAME if self.namespace == "openai" else f"{NAME}-{self.namespace}"


# `developer` and `max_completion_tokens` replace `system` and `max_tokens`:
# https://platform.openai.com/docs/api-reference/chat/create
OPENAI: Final = Dialect(
    "openai", "openai", system_role="developer", refusals=True, max_tokens="max_completion_tokens"
)
GENERIC: Final = Dialect("generic", "openai", system_anywhere=False, lists_of_text=False)
"""Requests that nearly every server accepts."""

DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        OPENAI,
        GENERIC,
        # https://openrouter.ai/docs/use-cases/reasoning-tokens, https://openrouter.ai/docs/features/multimodal/pdfs
        Dialect("openrouter", "openrouter", reasoning="reasoning_details", fetches_files=True),
        # V4 requires `reasoning_content` in every assistant message. The first reasoner refuses it
        # (`reasoning=None`): https://api-docs.deepseek.com/guides/reasoning_model
        Dialect(
            "deepseek",
            "deepseek",
            reasoning="reasoning_content",
            needs_reasoning=True,
            lists_of_text=False,
        ),
        # https://console.groq.com/docs/reasoning: chat templates drop reasoning of earlier turns
        Dialect("groq", "groq", reasoning="reasoning", replays="turn", max_tokens="max_completion_tokens"),
        # "Expected last role User or Tool", "Not the same number of function calls and responses", "Tool call
        # id has to be defined, a-z, A-Z, 0-9, with a length of 9" (seen in its error messages)
        Dialect(
            "mistral",
            "mistral",
            system_anywhere=False,
            reasoning="thinking",
            nine_letter_ids=True,
            user_after_tool=False,
            stream_options=False,
        ),
        # https://github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx
        Dialect("ollama", "ollama", reasoning="reasoning", replays="turn", lists_of_text=False),
        # https://docs.vllm.ai/en/latest/features/reasoning_outputs.html
        Dialect("vllm", "vllm", system_anywhere=False, reasoning="reasoning", replays="turn"),
        # https://docs.x.ai/docs/guides/reasoning: reasoning is not sent back
        Dialect("xai", "xai"),
    )
}
"""Dialects by the name of the server."""
