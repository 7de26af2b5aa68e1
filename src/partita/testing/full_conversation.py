"""A conversation with every feature of canonical messages, to test what a format preserves."""

from datetime import UTC, datetime, timedelta

from msgspec import UNSET
from msgspec.structs import replace

from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    Citation,
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    UnknownPart,
    UrlCitationSource,
)
from partita.types.tool_results import state_after
from partita.types.usage import Usage
from partita.types.value import Extra

BEGINNING = datetime(2026, 3, 1, 9, tzinfo=UTC)
DATA_URL = "data:text/plain;base64,U2xldHRuZXMgbGlnaHRob3VzZQ=="
STORED = "blob:sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TOWER = {"tower": "Slettnes"}


def full_conversation() -> tuple[Message, ...]:
    """A system prompt, a question, a response with every kind of part, a notice, an unfinished response."""
    return (_system(), _question(), _response(), _notice(), _last_response())


def _at(place: int) -> datetime:
    return BEGINNING + timedelta(seconds=place)


def _system() -> SystemMessage:
    return SystemMessage(
        id="m1",
        thread_id="thread-1",
        resource_id="owner-1",
        created_at=_at(0),
        seq=1,
        content="You keep the lighthouse register.",
    )


def _question() -> UserMessage:
    return UserMessage(
        id="m2",
        thread_id="thread-1",
        resource_id="owner-1",
        parent_id="m1",
        created_at=_at(1),
        seq=2,
        content=UserContent(
            parts=(
                TextPart("How tall is this tower?"),
                ImagePart("https://example.com/tower.png", media_type="image/png", name="tower"),
                FilePart("https://example.com/register.pdf", "application/pdf", "register.pdf"),
                FilePart(DATA_URL, "text/plain", "inline.txt"),
                FilePart(STORED, "text/csv", "kept.csv"),
                FilePart(
                    "https://example.com/uploaded.pdf",
                    "application/pdf",
                    "uploaded.pdf",
                    provider_reference={"openai": "file-uploaded"},
                ),
                DataPart("place", {"harbour": "Slettnes"}, id="data-of-user"),
            )
        ),
    )


def _response() -> AssistantMessage:
    return AssistantMessage(
        id="m3",
        thread_id="thread-1",
        resource_id="owner-1",
        parent_id="m2",
        run_id="run-1",
        created_at=_at(2),
        seq=3,
        extra=Extra({"futureField": "unknown-of-message"}),
        content=AssistantContent(
            parts=(*_texts(), *_media(), *_finished_calls(), *_outputs()),
            metadata={"rating": "rating-of-message"},
            provider_metadata={"openai": {"responseId": "provider-metadata-of-message"}},
            usage=Usage(
                input_tokens=40,
                output_tokens=16,
                total_tokens=56,
                reasoning_tokens=4,
                cached_input_tokens=8,
                cache_write_tokens=2,
                raw={"prompt_tokens": 40},
            ),
        ),
    )


def _texts() -> tuple[AssistantPart, ...]:
    page = UrlCitationSource(
        id="source-cited",
        url="https://example.com/cited",
        title="Cited",
        provider_metadata={"anthropic": {"index": 0}},
        type="source",
    )
    return (
        StepStartPart(),
        ReasoningPart(
            "The register will know.",
            id="reasoning-1",
            state="done",
            token_count=7,
            provider_metadata={"anthropic": {"signature": "signature-of-reasoning"}},
        ),
        ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "redacted-reasoning"}}),
        TextPart(
            "I look it up.",
            state="done",
            provider_metadata={"openai": {"itemId": "provider-metadata-of-text"}},
            extra=Extra({"futureField": "unknown-of-part"}),
        ),
        TextPart(
            "The register says 39 metres.",
            citations=(Citation(page, start_index=4, end_index=12, cited_text="register"),),
        ),
        TextPart("Thirty-ni", state="streaming"),
        StepStartPart(),
    )


def _media() -> tuple[AssistantPart, ...]:
    return (
        FilePart("https://example.com/made.png", "image/png", "made.png"),
        ReasoningFilePart("https://example.com/sketch.png", "image/png", "sketch.png"),
        SourceUrlPart("source-page", "https://example.com/page", "A page"),
        SourceDocumentPart("source-document", "application/pdf", "A document", "document.pdf"),
        DataPart("progress", {"step": "data-of-assistant"}, id="data-1"),
        CustomPart("openai.compaction", provider_metadata={"openai": {"itemId": "custom-of-provider"}}),
        SteeringMessagePart("steering-1", (TextPart("Metres, please."),)),
        ForeignPart("mastra-v2", {"type": "text", "text": 39, "note": "foreign-part"}),
        UnknownPart(raw=Extra({"type": "hologram", "beam": "unknown-part"})),
    )


def _finished_calls() -> tuple[AssistantPart, ...]:
    children = (
        UserMessage(id="child-1", content="Measure the tower."),
        AssistantMessage(id="child-2", content="It is 39 metres."),
    )
    envelope = ToolMessage(id="message-of-result", content=(), created_at=_at(3))
    return (
        replace(_call("call-child", TextOutput("39 metres")), children=children),
        replace(
            _call("call-described", JsonOutput({"metres": 39})),
            title="title-of-call",
            dynamic=True,
            provider_executed=True,
            call_provider_metadata={"google": {"thoughtSignature": "signature-of-call"}},
            result_provider_metadata={"anthropic": {"encrypted": "metadata-of-result"}},
            tool_metadata={"icon": "metadata-of-tool"},
            extra=Extra({"futureField": "unknown-of-call"}),
        ),
        replace(_call("call-gone", TextOutput("39")), dynamic=True, unavailable=True),
        replace(_call("call-early", JsonOutput({"so": "far"})), preliminary=True),
        replace(_call("call-parted", TextOutput("39")), result_message=envelope),
        replace(
            _call("call-bad", ErrorTextOutput("the input is no JSON")),
            input=UNSET,
            raw_input='{"tower": input-that-failed',
        ),
        *_approved_calls(),
    )


def _approved_calls() -> tuple[AssistantPart, ...]:
    written = TextOutput("written")
    approvals = {
        "call-allowed": Approval(id="approval-allowed", approved=True, reason="reason-of-answer"),
        "call-automatic": Approval(id="approval-automatic", approved=True, is_automatic=True),
        "call-answered-by": Approval(
            id="approval-by", approved=True, responded_by="person-who-answered", responded_at=_at(4)
        ),
    }
    return tuple(replace(_call(call, written), approval=approval) for call, approval in approvals.items())


def _outputs() -> tuple[AssistantPart, ...]:
    items = (
        TextPart("text-in-content"),
        ImagePart("https://example.com/in-content.png", media_type="image/png"),
        FilePart("https://example.com/in-content.pdf", "application/pdf", "in-content.pdf"),
    )
    refusal = Approval(id="approval-denied", approved=False, reason="reason-of-refusal")
    timeout = InterruptedOutput("timeout", message="message-of-interruption")
    metadata = {"openai": {"itemId": "metadata-of-output"}}
    return (
        _call("call-text", TextOutput("output-in-words")),
        _call("call-json", JsonOutput({"found": "output-in-json"})),
        _call("call-content", ContentOutput(items)),
        _call("call-error-text", ErrorTextOutput("error-in-words")),
        _call("call-error-json", ErrorJsonOutput({"code": "error-in-json"})),
        replace(_call("call-denied", ExecutionDeniedOutput("reason-of-refusal")), approval=refusal),
        _call("call-interrupted", timeout),
        _call("call-noted", JsonOutput({"metres": 39}, provider_metadata=metadata)),
    )


def _open_calls() -> tuple[AssistantPart, ...]:
    question = Approval(
        id="approval-asked",
        request_reason="reason-of-question",
        signature="signature-of-approval",
        descriptor={"kind": "descriptor-of-approval"},
        input_schema_input={"tower": "input-as-it-was-asked"},
    )
    answer = Approval(id="approval-responded", approved=True)
    return (
        ToolCallPart("call-streaming", "look_up", "input-streaming", {"tow": "Sl"}, raw_input='{"tow":"Sl'),
        ToolCallPart("call-available", "look_up", "input-available", {"tower": "input-of-call"}),
        ToolCallPart("call-words", "shell", "input-available", "input-in-words", input_encoding="text"),
        ToolCallPart("call-asking", "write", "approval-requested", TOWER, approval=question),
        ToolCallPart("call-responded", "write", "approval-responded", TOWER, approval=answer),
    )


def _call(id: str, output: ToolOutput) -> ToolCallPart:
    return ToolCallPart(id, "look_up", state_after(output), TOWER, output=output)


def _notice() -> UserMessage:
    return UserMessage(
        id="m4",
        thread_id="thread-1",
        resource_id="owner-1",
        parent_id="m3",
        created_at=_at(5),
        seq=4,
        type="event",
        internal=True,
        content=UserContent(parts=(TextPart("The context was made smaller."),), content="notice-as-string"),
    )


def _inner_network_content() -> AssistantContent:
    """The content of a network inside the network, after one of its tools failed."""
    failed = NetworkResult(error="error-of-network", interrupted="timeout")
    return AssistantContent(
        parts=(TextPart("It is 39 metres."),),
        network_execution=NetworkExecution(
            primitive_type="tool", primitive_id="scale-of-network", final_result=failed
        ),
    )


def _last_response() -> AssistantMessage:
    result = NetworkResult(
        text="text-of-network",
        tool_calls=(_call("call-of-network", TextOutput("39 metres")),),
        messages=(AssistantMessage(id="child-of-network", content=_inner_network_content()),),
        value={"metres": 39},
    )
    execution = NetworkExecution(
        primitive_type="agent",
        primitive_id="measurer",
        selection_reason="reason-of-router",
        input=TOWER,
        final_result=result,
        iteration=1,
    )
    return AssistantMessage(
        id="m5",
        thread_id="thread-1",
        resource_id="owner-1",
        parent_id="m4",
        run_id="run-2",
        created_at=_at(6),
        seq=5,
        content=AssistantContent(parts=(TextPart("39 metres."), *_open_calls()), network_execution=execution),
    )
