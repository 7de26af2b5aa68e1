"""Example messages."""

from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ErrorTextOutput, FilePart, JsonOutput, ReasoningPart, TextOutput, TextPart


def user_message(id: str, text: str = "How tall is the lighthouse?", **fields: object) -> Message:
    """A question."""
    return UserMessage(id=id, content=text, **fields)  # type: ignore[arg-type]


def assistant_message(id: str, text: str = "Forty metres.", **fields: object) -> Message:
    """A response with text."""
    return AssistantMessage(id=id, content=text, **fields)  # type: ignore[arg-type]


def tool_call_message(
    id: str, *, output: str = "41 m", tool: str = "measure", call: str = "c1", **fields: object
) -> Message:
    """A response with reasoning and a successful tool call."""
    return AssistantMessage(
        id=id,
        content=[
            ReasoningPart(text="Someone should measure it."),
            ToolCallPart(
                id=call,
                name=tool,
                state="output-available",
                input={"what": "lighthouse"},
                output=TextOutput(output),
            ),
            TextPart(text="It is 41 metres tall."),
        ],
        **fields,  # type: ignore[arg-type]
    )


def failed_call_message(
    id: str, *, tool: str = "measure", error: str = "tape too short", **fields: object
) -> Message:
    """A response with a failed tool call."""
    return AssistantMessage(
        id=id,
        content=[
            ToolCallPart(
                id=f"{id}-call", name=tool, state="output-error", input={}, output=ErrorTextOutput(error)
            )
        ],
        **fields,  # type: ignore[arg-type]
    )


def file_message(id: str, url: str, media_type: str = "image/png") -> Message:
    """A message with a file."""
    return UserMessage(id=id, content=[FilePart(url=url, media_type=media_type)])


def tool_output_message(id: str, output: TextOutput | JsonOutput) -> Message:
    """A message with a tool output."""
    return AssistantMessage(
        id=id, content=[ToolCallPart(id="c", name="read", state="output-available", input={}, output=output)]
    )
