"""Wire types of OpenAI's Responses API: items, their content, tools, and the body of a response.

Source: https://platform.openai.com/docs/api-reference/responses, and the types of the `openai` package
(`types/responses`). Members that servers leave out or write otherwise are optional, so that an item is read
as far as it is known.
"""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import Json, JsonObject

NAME: Final = "openai-responses"
"""The format, on parts that are kept whole."""

NAMESPACE: Final = "openai"
"""The namespace in provider metadata, which the AI SDK uses too."""

Text: TypeAlias = str | UnsetType | None


# Content


class Content(Wire, tag_field="type", kw_only=True):
    """The base of content."""


class InputText(Content, tag="input_text"):
    """A text for the model."""

    text: str


class InputImage(Content, tag="input_image"):
    """An image, by URL, data URL or file id."""

    image_url: Text = UNSET
    file_id: Text = UNSET
    detail: Text = UNSET


class InputFile(Content, tag="input_file"):
    """A file, as a data URL, by URL or by file id."""

    file_id: Text = UNSET
    file_data: Text = UNSET
    file_url: Text = UNSET
    filename: Text = UNSET


class InputAudio(Content, tag="input_audio"):
    """A sound in base64: `{data, format}`."""

    input_audio: JsonObject


class OutputText(Content, tag="output_text"):
    """A text of the model, with annotations and log probabilities."""

    text: str
    annotations: list[Any] | UnsetType | None = UNSET
    logprobs: list[Any] | UnsetType | None = UNSET


class Refusal(Content, tag="refusal"):
    """Why the model refuses the request."""

    refusal: str


class UnknownContent(UnknownVariant, tag_field="type", tag="__unknown__"):
    """Content without a type here."""


AnyContent: TypeAlias = (
    InputText | InputImage | InputFile | InputAudio | OutputText | Refusal | UnknownContent
)


# Items


class Item(Wire, tag_field="type", kw_only=True):
    """What all items may have."""

    id: Text = UNSET
    status: Text = UNSET


class Message(Item, tag="message"):
    """A message of the user or the model, or instructions."""

    role: str
    content: str | tuple[AnyContent, ...]
    phase: Text = UNSET


class ShortMessage(Wire, kw_only=True):
    """A message without a type. https://platform.openai.com/docs/api-reference/responses/create"""

    role: str
    content: str | tuple[AnyContent, ...]


class Reasoning(Item, tag="reasoning"):
    """Reasoning: summaries, raw texts, and all of it in encrypted form."""

    summary: list[Any]
    content: list[Any] | UnsetType | None = UNSET
    encrypted_content: Text = UNSET


class Call(Item, kw_only=True):
    """What all calls may have. `call_id` is absent where only the provider needs it."""

    call_id: Text = UNSET


class FunctionCall(Call, tag="function_call"):
    """A call of a function. Some servers write the arguments as an object (seen in recordings)."""

    name: str
    arguments: Json | UnsetType = UNSET
    namespace: Text = UNSET
    caller: JsonObject | UnsetType | None = UNSET


class CustomToolCall(Call, tag="custom_tool_call"):
    """A call whose input is text."""

    name: str
    input: Json | UnsetType = UNSET
    namespace: Text = UNSET
    caller: JsonObject | UnsetType | None = UNSET


class ApplyPatchCall(Call, tag="apply_patch_call"):
    """A patch to apply."""

    operation: Json


class LocalShellCall(Call, tag="local_shell_call"):
    """A command for the shell of the client."""

    action: Json


class ShellCall(Call, tag="shell_call"):
    """Commands for a shell of the client, or in a container of the provider."""

    action: Json
    environment: JsonObject | UnsetType | None = UNSET


class ComputerCall(Call, tag="computer_call"):
    """An action on a screen, or several."""

    action: Json | UnsetType = UNSET
    actions: Json | UnsetType = UNSET


class ToolSearchCall(Call, tag="tool_search_call"):
    """A search for tools. `execution` is `client` or `server`."""

    arguments: Json | UnsetType = UNSET
    execution: Text = UNSET


class Program(Call, tag="program"):
    """Code that calls tools, run by the provider."""

    code: Json | UnsetType = UNSET
    fingerprint: Json | UnsetType = UNSET


class McpApprovalRequest(Call, tag="mcp_approval_request"):
    """A call of a tool of an MCP server that needs approval."""

    name: str
    arguments: Json | UnsetType = UNSET


class McpCall(Call, tag="mcp_call"):
    """A call of a tool of an MCP server, with its output."""

    name: str
    arguments: Json | UnsetType = UNSET
    output: Json | UnsetType = UNSET
    error: Json | UnsetType = UNSET


class WebSearchCall(Call, tag="web_search_call"):
    """A search on the web, or a page that was opened."""

    action: Json | UnsetType = UNSET
    arguments: Json | UnsetType = UNSET  # of xAI instead of an action: seen in a recording
    results: Json | UnsetType = UNSET


class FileSearchCall(Call, tag="file_search_call"):
    """A search in files."""

    queries: Json | UnsetType = UNSET
    results: Json | UnsetType = UNSET


class CodeInterpreterCall(Call, tag="code_interpreter_call"):
    """Code that the provider ran."""

    code: Json | UnsetType = UNSET
    container_id: Json | UnsetType = UNSET
    outputs: Json | UnsetType = UNSET


class ImageGenerationCall(Call, tag="image_generation_call"):
    """An image that was generated, in base64."""

    result: Json | UnsetType = UNSET
    output_format: Json | UnsetType = UNSET


class Output(Item, kw_only=True):
    """What all outputs of calls may have."""

    call_id: Text = UNSET
    output: Json | UnsetType = UNSET


class FunctionCallOutput(Output, tag="function_call_output"):
    """The output of a function."""


class CustomToolCallOutput(Output, tag="custom_tool_call_output"):
    """The output of a custom tool."""


class ComputerCallOutput(Output, tag="computer_call_output"):
    """A picture of the screen."""


class LocalShellCallOutput(Output, tag="local_shell_call_output"):
    """The output of a local shell. `id` is the id of its call.

    `LocalShellCallOutput` in types/responses/response_input_item_param.py
    """


class ShellCallOutput(Output, tag="shell_call_output"):
    """The outputs of the commands of a shell."""


class ApplyPatchCallOutput(Output, tag="apply_patch_call_output"):
    """Whether a patch was applied."""


class ToolSearchOutput(Output, tag="tool_search_output"):
    """The tools that were found."""

    tools: Json | UnsetType = UNSET
    execution: Text = UNSET


class ProgramOutput(Output, tag="program_output"):
    """The result of a program."""

    result: Json | UnsetType = UNSET


class McpApprovalResponse(Item, tag="mcp_approval_response"):
    """Whether a call of a tool of an MCP server may run."""

    approval_request_id: str
    approve: bool
    reason: Text = UNSET


class UnknownItem(UnknownVariant, tag_field="type", tag="__unknown__"):
    """An item without a type here."""


ClientCall: TypeAlias = (
    FunctionCall
    | CustomToolCall
    | ApplyPatchCall
    | LocalShellCall
    | ShellCall
    | ComputerCall
    | ToolSearchCall
)
AnyOutput: TypeAlias = (
    FunctionCallOutput
    | CustomToolCallOutput
    | ComputerCallOutput
    | LocalShellCallOutput
    | ShellCallOutput
    | ApplyPatchCallOutput
    | ToolSearchOutput
    | ProgramOutput
)
AnyItem: TypeAlias = (
    Message
    | Reasoning
    | ClientCall
    | Program
    | McpApprovalRequest
    | McpApprovalResponse
    | McpCall
    | WebSearchCall
    | FileSearchCall
    | CodeInterpreterCall
    | ImageGenerationCall
    | AnyOutput
    | UnknownItem
)

ITEM: Final[Codec[AnyItem]] = Codec(AnyItem)
SHORT: Final[Codec[ShortMessage]] = Codec(ShortMessage)
CONTENT: Final[Codec[tuple[AnyContent, ...]]] = Codec(tuple[AnyContent, ...])


# Requests and responses


class Function(Wire, tag_field="type", tag="function", kw_only=True):
    """A function among the tools of a request. All other tools stay among the settings."""

    name: str
    description: Text = UNSET
    parameters: JsonObject | UnsetType | None = UNSET
    strict: bool | UnsetType | None = UNSET


FUNCTION: Final[Codec[Function]] = Codec(Function)


class Response(Wire, kw_only=True):
    """The body of a response. What it repeats of its request is among its settings."""

    id: Text = UNSET
    object: Text = UNSET
    model: Text = UNSET
    status: Text = UNSET
    output: list[Any] | UnsetType | None = UNSET
    usage: JsonObject | UnsetType | None = UNSET
    incomplete_details: JsonObject | UnsetType | None = UNSET


RESPONSE: Final[Codec[Response]] = Codec(Response)
