"""Wire types of Chat Completions, as OpenAI and compatible servers use them.

Source: https://platform.openai.com/docs/api-reference/chat, and the types of the `openai` package. Members
that only some servers have name them.
"""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire, always
from partita.types.json import Json, JsonObject

NAME: Final = "openai-chat"
"""The format of OpenAI. Those of other servers begin with it."""


# Items of a content


class Item(Wire, tag_field="type", kw_only=True):
    """What all items may have."""

    # OpenRouter passes it to Anthropic: https://openrouter.ai/docs/features/prompt-caching
    cache_control: Json | UnsetType = UNSET


class Text(Item, tag="text"):
    """A text."""

    text: str


class Image(Item, tag="image_url"):
    """An image by its URL. Mistral accepts the URL alone: https://docs.mistral.ai/capabilities/vision"""

    image_url: JsonObject | str


class Audio(Item, tag="input_audio"):
    """A sound in base64, with its format."""

    input_audio: JsonObject


class File(Item, tag="file"):
    """A file by its id, or as a data URL; OpenRouter accepts any URL.

    https://openrouter.ai/docs/features/multimodal/pdfs
    """

    file: JsonObject


class Refusal(Item, tag="refusal"):
    """A refusal of the model."""

    refusal: str


class Thinking(Item, tag="thinking"):
    """Reasoning of Mistral's models: https://docs.mistral.ai/capabilities/reasoning"""

    thinking: list[Any] | str
    signature: str | UnsetType | None = UNSET


class UnknownItem(UnknownVariant, tag_field="type", tag="__unknown__"):
    """An item without a type here."""


Items: TypeAlias = tuple[Text | Image | Audio | File | Refusal | Thinking | UnknownItem, ...]
Content: TypeAlias = str | Items | UnsetType | None


# Calls


class Function(Wire):
    """A function that is called. The arguments are JSON as text."""

    name: str
    arguments: Json = UNSET


class Custom(Wire):
    """A custom tool that is called: its input is any text."""

    name: str
    input: str


class Call(Wire, kw_only=True):
    """A call of a tool. Some servers leave out `type` (Mistral) or `id` (both seen in recordings)."""

    id: str | UnsetType | None = UNSET
    type: str | UnsetType = UNSET
    function: Function | UnsetType = UNSET
    custom: Custom | UnsetType = UNSET
    # Gemini's signatures: https://ai.google.dev/gemini-api/docs/thought-signatures#openai
    extra_content: Json | UnsetType = UNSET


# Messages


class Message(Wire, tag_field="role", kw_only=True):
    """What all messages have."""

    content: Content = UNSET
    name: str | UnsetType | None = UNSET


class System(Message, tag="system"):
    """Instructions."""


class Developer(Message, tag="developer"):
    """Instructions, as OpenAI calls them since its first reasoning models."""


class User(Message, tag="user"):
    """A prompt."""


class Assistant(Message, tag="assistant"):
    """A response. Dumps of the `openai` package contain all members of OpenAI, most of them null."""

    tool_calls: tuple[Call, ...] | UnsetType | None = UNSET
    refusal: str | UnsetType | None = UNSET
    annotations: list[Any] | UnsetType | None = UNSET
    audio: JsonObject | UnsetType | None = UNSET
    function_call: Function | UnsetType | None = UNSET
    # DeepSeek, xAI: https://api-docs.deepseek.com/guides/reasoning_model
    reasoning_content: str | UnsetType | None = UNSET
    # Groq, Ollama, vLLM, OpenRouter: https://console.groq.com/docs/reasoning
    reasoning: str | UnsetType | None = UNSET
    # https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    reasoning_details: list[Any] | UnsetType | None = UNSET
    extra_content: Json | UnsetType = UNSET


class Tool(Message, tag="tool"):
    """The result of a call."""

    tool_call_id: str | UnsetType | None = UNSET


class FunctionResult(Message, tag="function"):
    """The result of a `function_call`, which tool calls have replaced."""


AnyMessage: TypeAlias = System | Developer | User | Assistant | Tool | FunctionResult
MESSAGE: Final[Codec[AnyMessage]] = Codec(AnyMessage)
ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


# Tools


class DeclaredFunction(Wire, kw_only=True):
    """A function that the model may call."""

    name: str
    description: str | UnsetType | None = UNSET
    parameters: JsonObject | UnsetType = UNSET
    strict: bool | UnsetType | None = UNSET


class FunctionTool(Wire, kw_only=True):
    """A tool of the client."""

    type: str = always("function")
    function: DeclaredFunction


TOOL: Final[Codec[FunctionTool]] = Codec(FunctionTool)


# Responses


class ResponseMessage(Assistant, tag="assistant"):
    """The message of a response."""

    content: Content = always(None)
    # OpenRouter: https://openrouter.ai/docs/features/multimodal/image-generation
    images: list[Any] | UnsetType | None = UNSET
    # Groq: https://console.groq.com/docs/agentic-tooling
    executed_tools: list[Any] | UnsetType | None = UNSET


class Choice(Wire, kw_only=True):
    """One of the responses to a request."""

    index: int | UnsetType | None = always(0)
    message: Json = UNSET
    finish_reason: str | UnsetType | None = always(None)
    logprobs: JsonObject | UnsetType | None = UNSET


class Response(Wire, kw_only=True):
    """The body of a response."""

    id: str | UnsetType | None = always("")
    object: str | UnsetType = always("chat.completion")
    created: int | UnsetType | None = always(0)
    model: str | UnsetType | None = always("")
    choices: Json = UNSET
    usage: JsonObject | UnsetType | None = UNSET


RESPONSE_MESSAGE: Final[Codec[ResponseMessage]] = Codec(ResponseMessage)
CHOICE: Final[Codec[Choice]] = Codec(Choice)
RESPONSE: Final[Codec[Response]] = Codec(Response)
