"""One conversation in every format, as the SDK of that format writes it.

Where the package of a format is installed, the input is built with its types and dumped by them, so every
message has the members that real dumps have: nulls, empty lists, ids, usage, timestamps. AI SDK UI messages
are written by hand in the form that `useChat` stores. The other formats have no Python package here: their
input is what Partita writes. Then every tenth message gets a member that the format does not define.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from partita.formats import all_formats
from partita.types.json import Json, JsonObject, dumps, loads

MODEL = "gpt-5.1-2025-11-13"
SYSTEM = "You keep the register of lighthouses."
START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
UNKNOWN = "x_trace"


class Call(NamedTuple):
    """A tool call with its result."""

    id: str
    name: str
    args: dict[str, int]
    output: str | dict[str, Any]

    @property
    def function(self) -> dict[str, str]:
        """Name and arguments in the form of OpenAI's APIs."""
        return {"name": self.name, "arguments": dumps(self.args).decode()}

    @property
    def text(self) -> str:
        """The result as text, for formats in which results are strings."""
        return self.output if isinstance(self.output, str) else dumps(self.output).decode()


class Step(NamedTuple):
    """One response of the model, and the results of its calls."""

    id: str
    thought: str
    text: str
    calls: list[Call]


class Turn(NamedTuple):
    """A question and the steps that answer it."""

    id: str
    question: str
    steps: list[Step]


def build_inputs(count: int) -> dict[str, Json]:
    """The payload of each format that is both read and written, for a conversation of `count` messages."""
    turns = [_turn(number) for number in range(count // 2)]
    formats = all_formats()
    load_ui = formats["ai-sdk-ui-v7"].load
    assert load_ui is not None
    messages = load_ui(_ui_messages(turns)).messages
    inputs: dict[str, Json] = {}
    for name, format_ in formats.items():
        if format_.load is None or format_.dump is None or name.endswith("-response"):
            continue  # an answer is one message
        build = BUILDERS.get("openai-chat" if name.startswith("openai-chat-") else name)
        inputs[name] = _plain(build(turns) if build else format_.dump(messages).payload)
        for item in _messages_in(inputs[name])[9::10]:
            _members(item)[UNKNOWN] = {"span": "00f067aa0ba902b7", "sampled": True}
    return inputs


def without_unknown(payload: Json) -> Json:
    """A copy without the unknown members, for packages that refuse them."""
    copy = _plain(payload)
    for item in _messages_in(copy):
        _members(item).pop(UNKNOWN, None)
    return copy


def _plain(payload: Json) -> Json:
    """Fresh JSON values, so that no object occurs twice."""
    return loads(dumps(payload))


def _messages_in(payload: Json) -> list[JsonObject]:
    """The list of messages, items or records in a payload. A payload that is a text has none."""
    lists = (
        [payload]
        if isinstance(payload, list)
        else [[], *payload.values()]
        if isinstance(payload, dict)
        else [[]]
    )
    return max((one for one in lists if isinstance(one, list)), key=len)


def _members(item: JsonObject) -> JsonObject:
    """The members of a message. LangChain has them in `data`, in an envelope with the type."""
    return item["data"] if item.keys() == {"type", "data"} else item


def _turn(number: int) -> Turn:
    """Every second turn calls two tools before it answers."""
    args, output = {"tower": number}, {"metres": 39.5, "tags": ["red", "iron"]}
    log = " ".join(["lit since dusk, checked by the keeper"] * 4)
    calls = [Call(f"call_{number}_1", "height", args, output), Call(f"call_{number}_2", "lamp", args, log)]
    thought = " ".join(["The register has heights; the lamp has a separate log."] * 4)
    text = " ".join(["The tower is **39.5 metres** tall; its lamp is lit."] * 8)
    answer = Step(f"msg_{number}_b", thought, text, [])
    steps = [Step(f"msg_{number}_a", thought, "I look both up.", calls), answer] if number % 2 else [answer]
    return Turn(f"user_{number}", f"How tall is tower {number}, and is its lamp lit?", steps)


def _openai_chat(turns: list[Turn]) -> Json:
    from openai.types.chat import ChatCompletionMessage

    messages: list[Any] = [{"role": "developer", "content": SYSTEM, "name": "register"}]
    for turn in turns:
        messages.append({"role": "user", "content": turn.question, "name": "keeper"})
        for step in turn.steps:
            calls = [{"id": call.id, "type": "function", "function": call.function} for call in step.calls]
            answer = {
                "role": "assistant",
                "content": step.text,
                "annotations": [],
                "tool_calls": calls or None,
            }
            messages.append(ChatCompletionMessage.model_validate(answer).model_dump())
            messages += [{"role": "tool", "tool_call_id": c.id, "content": c.text} for c in step.calls]
    return {"model": MODEL, "messages": messages}


def _openai_responses(turns: list[Turn]) -> Json:
    items = [item if isinstance(item, dict) else item.model_dump() for item in _response_items(turns)]
    return {"model": MODEL, "instructions": SYSTEM, "input": items}


def _openai_agents(turns: list[Turn]) -> Json:
    from agents import ModelResponse, Usage

    items: list[Any] = []
    for item in _response_items(turns):
        items += [item] if isinstance(item, dict) else ModelResponse([item], Usage(), None).to_input_items()
    return items


def _response_items(turns: list[Turn]) -> Iterator[Any]:
    """Items of the Responses API: what the API returned as models, what the application sent as dicts."""
    from openai.types import responses as r

    for turn in turns:
        yield {"type": "message", "role": "user", "content": [{"type": "input_text", "text": turn.question}]}
        for step in turn.steps:
            summary = [{"type": "summary_text", "text": step.thought}]
            item = {"id": f"rs_{step.id}", "type": "reasoning", "encrypted_content": "gAAAAAB" * 20}
            yield r.ResponseReasoningItem.model_validate({**item, "summary": summary})
            text = {"type": "output_text", "text": step.text, "annotations": [], "logprobs": []}
            item = {"id": step.id, "type": "message", "role": "assistant", "status": "completed"}
            yield r.ResponseOutputMessage.model_validate({**item, "content": [text]})
            for call in step.calls:
                item = {
                    "id": f"fc_{call.id}",
                    "call_id": call.id,
                    "type": "function_call",
                    "status": "completed",
                }
                yield r.ResponseFunctionToolCall.model_validate({**item, **call.function})
            for call in step.calls:
                yield {"type": "function_call_output", "call_id": call.id, "output": call.text}


def _anthropic(turns: list[Turn]) -> Json:
    from anthropic.types import Message

    cached = {"cache_control": {"type": "ephemeral"}}
    usage = {"input_tokens": 900, "output_tokens": 80}
    response = {"type": "message", "role": "assistant", "model": "claude-opus-4-5", "usage": usage}
    messages: list[Any] = []
    for turn in turns:
        question = {"type": "text", "text": turn.question} | (cached if turn is turns[-1] else {})
        messages.append({"role": "user", "content": [question]})
        for step in turn.steps:
            content = [
                {"type": "thinking", "thinking": step.thought, "signature": "EqQBCgIYAhIM" * 12},
                {"type": "text", "text": step.text},
                *({"type": "tool_use", "id": c.id, "name": c.name, "input": c.args} for c in step.calls),
            ]
            answer = Message.model_validate({**response, "id": step.id, "content": content})
            messages.append(answer.model_dump(include={"role", "content"}))
            if step.calls:
                result = {"type": "tool_result", "is_error": False}
                results = [{**result, "tool_use_id": call.id, "content": call.text} for call in step.calls]
                messages.append({"role": "user", "content": results})
    system = [{"type": "text", "text": SYSTEM, **cached}]
    return {"model": "claude-opus-4-5", "max_tokens": 4096, "system": system, "messages": messages}


def _gemini(turns: list[Turn]) -> Json:
    from google.genai.types import Content, FunctionCall, FunctionResponse, Part

    contents: list[Content] = []
    for turn in turns:
        contents.append(Content(role="user", parts=[Part(text=turn.question)]))
        for step in turn.steps:
            parts = [
                Part(text=step.thought, thought=True),
                Part(text=step.text, thought_signature=b"sig" * 20),
            ]
            results: list[Part] = []
            for call in step.calls:
                result = call.output if isinstance(call.output, dict) else {"result": call.output}
                named: dict[str, Any] = {"id": call.id, "name": call.name}
                parts.append(Part(function_call=FunctionCall(**named, args=call.args)))
                results.append(Part(function_response=FunctionResponse(**named, response=result)))
            contents.append(Content(role="model", parts=parts))
            contents += [Content(role="user", parts=results)] if results else []
    dumped = [content.model_dump(mode="json") for content in (Content(parts=[Part(text=SYSTEM)]), *contents)]
    return {"system_instruction": dumped[0], "contents": dumped[1:]}


def _langchain(turns: list[Turn]) -> Json:
    """Messages as LangChain's chat models return them with `output_version="v1"`."""
    from langchain_core import messages as m

    usage: Any = {"input_tokens": 900, "output_tokens": 80, "total_tokens": 980}
    usage |= {"input_token_details": {"cache_read": 512}, "output_token_details": {"reasoning": 40}}
    metadata = {"model_name": MODEL, "model_provider": "openai", "finish_reason": "stop", "logprobs": None}
    response: dict[str, Any] = {"usage_metadata": usage, "additional_kwargs": {"refusal": None}}
    response["response_metadata"] = {**metadata, "output_version": "v1"}
    messages: list[Any] = [m.SystemMessage(SYSTEM, id="system")]
    for turn in turns:
        messages.append(m.HumanMessage(turn.question, id=turn.id, name="keeper"))
        for step in turn.steps:
            calls = [{"type": "tool_call", "id": c.id, "name": c.name, "args": c.args} for c in step.calls]
            blocks = [{"type": "reasoning", "reasoning": step.thought}, {"type": "text", "text": step.text}]
            answer: Any = {"id": f"run--{step.id}", "content": [*blocks, *calls], "tool_calls": calls}
            messages.append(m.AIMessage(**answer, **response))
            for call in step.calls:
                own = {"tool_call_id": call.id, "name": call.name, "id": f"result_{call.id}"}
                messages.append(m.ToolMessage(call.text, **own))
    return m.messages_to_dict(messages)


def _model_messages(turns: list[Turn]) -> list[Any]:
    """A history of Pydantic AI with a model of the Responses API."""
    from pydantic_ai import messages as m
    from pydantic_ai.usage import RequestUsage

    history: list[Any] = []
    own: Any = {"provider_name": "openai"}
    usage = RequestUsage(input_tokens=900, output_tokens=80, details={"reasoning_tokens": 40})
    response: Any = {
        "model_name": MODEL,
        "provider_details": {"finish_reason": "completed"},
        "usage": usage,
        **own,
    }
    for turn in turns:
        run: Any = {"run_id": f"run_{turn.id}", "conversation_id": "lighthouses", "timestamp": START}
        asked = m.UserPromptPart(turn.question, timestamp=START)
        history.append(m.ModelRequest([asked], instructions=SYSTEM, **run))
        for step in turn.steps:
            parts: list[Any] = [
                m.ThinkingPart(step.thought, id=f"rs_{step.id}", signature="gAAAAAB" * 20, **own),
                m.TextPart(step.text, id=step.id, **own),
            ]
            for call in step.calls:
                args = dumps(call.args).decode()
                parts.append(m.ToolCallPart(call.name, args, call.id, id=f"fc_{call.id}", **own))
            why: Any = {"finish_reason": "tool_call" if step.calls else "stop"}
            history.append(
                m.ModelResponse(parts, provider_response_id=f"resp_{step.id}", **why, **response, **run)
            )
            results = [m.ToolReturnPart(c.name, c.output, c.id, timestamp=START) for c in step.calls]
            history += [m.ModelRequest(results, **run)] if results else []
    return history


def _pydantic_ai(turns: list[Turn]) -> Json:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return loads(ModelMessagesTypeAdapter.dump_json(_model_messages(turns)))


def _otel(turns: list[Turn]) -> Json:
    """The attributes of a span as Pydantic AI's instrumentation records them."""
    from pydantic_ai.models.instrumented import InstrumentationSettings

    recorded = InstrumentationSettings().messages_to_otel_messages(_model_messages(turns))
    usage = {"gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 80}
    named = {"gen_ai.conversation.id": "lighthouses", "gen_ai.request.model": MODEL}
    return {"gen_ai.input.messages": recorded, **usage, **named}


def _ag_ui(turns: list[Turn]) -> Json:
    from ag_ui.core import Message
    from pydantic import TypeAdapter

    messages: list[Any] = [{"id": "system", "role": "system", "content": SYSTEM}]
    for turn in turns:
        messages.append({"id": turn.id, "role": "user", "content": turn.question, "name": "keeper"})
        for step in turn.steps:
            messages.append({"id": f"rs_{step.id}", "role": "reasoning", "content": step.thought})
            calls = [{"id": call.id, "type": "function", "function": call.function} for call in step.calls]
            answer = {"id": step.id, "role": "assistant", "content": step.text}
            messages.append({**answer, "toolCalls": calls} if calls else answer)
            for call in step.calls:
                result = {"id": f"result_{call.id}", "role": "tool", "toolCallId": call.id}
                messages.append({**result, "content": call.text})
    adapter: TypeAdapter[Any] = TypeAdapter(list[Message])
    return adapter.dump_python(adapter.validate_python(messages), mode="json", by_alias=True)


def _ui_messages(turns: list[Turn]) -> Json:
    """What `useChat` stores for a model of the Responses API."""
    metadata = {"createdAt": START.isoformat(), "model": MODEL, "totalTokens": 980}
    messages: list[Any] = [{"id": "system", "role": "system", "parts": [{"type": "text", "text": SYSTEM}]}]
    for turn in turns:
        messages.append({"id": turn.id, "role": "user", "parts": [{"type": "text", "text": turn.question}]})
        parts: list[Any] = []
        for step in turn.steps:
            thought = {"type": "reasoning", "text": step.thought, "state": "done"}
            signed = {"itemId": f"rs_{step.id}", "reasoningEncryptedContent": "gAAAAAB" * 20}
            text = {"type": "text", "text": step.text, "state": "done"}
            parts += [{"type": "step-start"}, {**thought, "providerMetadata": {"openai": signed}}]
            parts.append({**text, "providerMetadata": {"openai": {"itemId": step.id}}})
            for call in step.calls:
                part = {"type": f"tool-{call.name}", "toolCallId": call.id, "state": "output-available"}
                own = {"openai": {"itemId": f"fc_{call.id}"}}
                parts.append({**part, "input": call.args, "output": call.output, "callProviderMetadata": own})
        messages.append({"id": f"answer_{turn.id}", "role": "assistant", "parts": parts})
    return [{**message, "metadata": metadata} for message in messages]


BUILDERS: dict[str, Callable[[list[Turn]], Json]] = {
    "ag-ui": _ag_ui,
    **dict.fromkeys(("ai-sdk-ui-v5", "ai-sdk-ui-v6", "ai-sdk-ui-v7"), _ui_messages),
    "anthropic": _anthropic,
    "gemini": _gemini,
    "langchain": _langchain,
    "openai-agents": _openai_agents,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "otel-genai": _otel,
    "pydantic-ai": _pydantic_ai,
}
