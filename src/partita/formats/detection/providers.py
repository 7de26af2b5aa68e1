"""Signs of payloads of the API of a model provider."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .signs import (
    Sign,
    Test,
    alone_or_in,
    any_item,
    array,
    both,
    by_type,
    either,
    equals,
    has,
    has_role,
    holds,
    inner,
    inside,
    is_api_message,
    is_request,
    kind,
    lacks,
    mapping,
    objects,
    only,
    signs,
    starts,
    text,
)

# Google: generateContent

GEMINI: Final = "gemini"

_GEMINI_RESPONSE: Final = has("usageMetadata usage_metadata modelVersion model_version responseId")
_GEMINI_PART: Final = has(
    "functionCall function_call functionResponse function_response inlineData inline_data "
    "fileData file_data executableCode executable_code codeExecutionResult "
    "code_execution_result thoughtSignature thought_signature thought videoMetadata "
    "toolCall toolResponse"
)


def _is_gemini_error(value: JsonObject) -> bool:
    error = inner(value, "error")
    return text("status", "message")(error) and isinstance(error.get("code"), int)


def _is_gemini_content(value: JsonObject) -> bool:
    """Whether a content has parts without a type, and one of Google's roles or none."""
    if "kind" in value or "messageId" in value:
        return False
    found = list(objects(value.get("parts")))
    is_untyped = bool(found) and all("type" not in part and "kind" not in part for part in found)
    return is_untyped and value.get("role") in (None, "user", "model", "function")


def _is_empty_gemini_request(body: JsonObject) -> bool:
    return is_array(body.get("contents")) and not body["contents"] and "systemInstruction" in body


GEMINI_SIGNS: Final = signs(
    GEMINI,
    (0.94, "candidates", array("candidates")),
    (0.93, "feedback on the prompt", either(mapping("promptFeedback"), mapping("prompt_feedback"))),
    (0.85, "members that responses of Google have", both(_GEMINI_RESPONSE, lacks("role", "type"))),
    (0.85, "an error with a status, as Google reports it", _is_gemini_error),
    (0.95, "contents with parts", holds("contents", has("parts"))),
    (0.9, "one content with parts", inside("contents", has("parts"))),
    (0.8, "instructions and no contents", _is_empty_gemini_request),
    (0.95, "parts that Google has, without a type", both(_is_gemini_content, holds("parts", _GEMINI_PART))),
    (0.9, "the role model", both(equals("role", "model"), array("parts"))),
    (0.8, "parts without a type", both(_is_gemini_content, has_role, holds("parts", has("text")))),
)

# Amazon Bedrock: Converse

BEDROCK: Final = "bedrock-converse"

_BEDROCK_EVENTS: Final = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    }
)


def _is_bedrock_event(value: JsonObject) -> bool:
    return len(value) == 1 and any(name in _BEDROCK_EVENTS and is_object(value[name]) for name in value)


_BEDROCK_BLOCK: Final = both(
    lacks("type"),  # the name of the only member is the type
    either(
        has("toolUse toolResult reasoningContent citationsContent guardContent cachePoint"),
        *(inside(name, mapping("source")) for name in ("image", "document", "video", "audio")),
    ),
)
_BEDROCK_REQUEST: Final = both(
    has("inferenceConfig", "toolConfig", "guardrailConfig", "promptVariables"), has("messages", "modelId")
)

BEDROCK_SIGNS: Final = signs(
    BEDROCK,
    (0.97, "events of ConverseStream", _is_bedrock_event),
    (0.97, "an output with a stop reason", both(has("stopReason"), inside("output", mapping("message")))),
    (0.6, "an error of AWS", text("__type")),
    (0.95, "blocks of Converse", alone_or_in(any_item(_BEDROCK_BLOCK))),
    (0.85, "texts without a type", alone_or_in(any_item(both(lacks("type"), text("text"))))),
    (0.95, "settings of Converse", _BEDROCK_REQUEST),
)

# Cohere

COHERE: Final = "cohere"

_COHERE_EVENT: Final = kind(
    "message-start content-start content-delta content-end tool-plan-delta "
    "tool-call-start tool-call-delta tool-call-end citation-start citation-end "
    "message-end"
)
_COHERE_DOCUMENT: Final = both(equals("type", "document"), inside("document", has("data")))
_COHERE_SETTINGS: Final = has("citation_options", "strict_tools", "safety_mode", "documents")
_IS_ASSISTANT: Final = equals("role", "assistant")

COHERE_SIGNS: Final = signs(
    COHERE,
    (0.96, "events of Cohere's chat", both(_COHERE_EVENT, either(mapping("delta"), has("index")))),
    (
        0.96,
        "a message with a finish reason of Cohere",
        both(text("finish_reason"), inside("message", _IS_ASSISTANT)),
    ),
    (0.95, "a tool plan", alone_or_in(both(_IS_ASSISTANT, text("tool_plan")))),
    (0.8, "citations of a message", alone_or_in(both(_IS_ASSISTANT, array("citations"), has("content")))),
    (0.95, "documents in results", alone_or_in(both(equals("role", "tool"), any_item(_COHERE_DOCUMENT)))),
    (0.9, "settings of Cohere", both(array("messages"), _COHERE_SETTINGS)),
    (0.97, "a model of Cohere", both(array("messages"), starts("model", "command-", "c4ai-", "north-"))),
)

# Anthropic: Messages

ANTHROPIC: Final = "anthropic"

_ANTHROPIC_EVENT: Final = kind(
    "message_start message_delta message_stop content_block_start content_block_delta content_block_stop"
)
_ANTHROPIC_BLOCKS: Final[dict[str, Test]] = {
    "tool_use": both(text("id", "name"), has("input")),
    "tool_result": text("tool_use_id"),
    "thinking": text("thinking"),
    "search_result": both(has("source"), array("content")),
    "image": mapping("source"),
    "document": mapping("source"),
}
_ANTHROPIC_OWN: Final = kind("redacted_thinking", "server_tool_use", "container_upload", "mcp_tool_use")
_ANTHROPIC_SETTINGS: Final = has(
    "anthropic_version anthropic_beta stop_sequences output_config mcp_servers container "
    "context_management betas"
)


def _is_server_result(block: JsonObject) -> bool:
    found: Json = block.get("type")
    return isinstance(found, str) and found not in _ANTHROPIC_BLOCKS and found.endswith("_tool_result")


def _is_server_tool(tool: JsonObject) -> bool:
    found: Json = tool.get("type")
    return isinstance(found, str) and text("name")(tool) and found[-8:].isdigit()


def _has_only_texts(message: JsonObject) -> bool:
    """Whether a message has only texts, and a role that Anthropic has."""
    is_known = message.get("role") in ("user", "assistant") and is_api_message(message)
    items = objects(message.get("content"))
    return is_known and all(one.get("type") == "text" and text("text")(one) for one in items)


def _has_system(body: JsonObject) -> bool:
    return is_request(body) and isinstance(body.get("system"), (str, list))


ANTHROPIC_SIGNS: Final = signs(
    ANTHROPIC,
    (0.95, "events of a message", _ANTHROPIC_EVENT),
    (0.96, "a message with a stop reason", both(equals("type", "message"), has("stop_reason"))),
    (
        0.85,
        "a message with an id of Anthropic",
        both(equals("type", "message"), starts("id", "msg_"), array("content")),
    ),
    (
        0.9,
        "an error as Anthropic reports it",
        both(equals("type", "error"), inside("error", text("type", "message"))),
    ),
    (0.5, "a ping", lambda value: value == {"type": "ping"}),
    (
        0.93,
        "blocks that Anthropic has",
        alone_or_in(any_item(either(by_type(_ANTHROPIC_BLOCKS), _ANTHROPIC_OWN, _is_server_result))),
    ),
    (0.75, "blocks with cache_control", alone_or_in(any_item(has("cache_control")))),
    (0.9, "a system next to the messages", _has_system),
    (
        0.94,
        "tools as Anthropic describes them",
        both(is_request, holds("tools", either(has("input_schema"), _is_server_tool))),
    ),
    (0.93, "settings of Anthropic", both(is_request, _ANTHROPIC_SETTINGS)),
    (
        0.85,
        "a model of Anthropic, and max_tokens",
        both(is_request, starts("model", "claude"), has("max_tokens")),
    ),
    (0.55, "a model, messages and max_tokens", both(is_request, text("model"), has("max_tokens"))),
    (0.42, "an object with messages", holds("messages", _has_only_texts)),
    (0.4, "a role and a content", _has_only_texts),
)

# OpenAI: Responses, and the Agents SDK, whose sessions are items of Responses

RESPONSES: Final = "openai-responses"
AGENTS: Final = "openai-agents"

_ITEM: Final = both(
    kind(
        "function_call function_call_output custom_tool_call custom_tool_call_output "
        "file_search_call web_search_call computer_call computer_call_output "
        "code_interpreter_call image_generation_call local_shell_call local_shell_call_output "
        "shell_call shell_call_output apply_patch_call apply_patch_call_output mcp_call "
        "mcp_list_tools mcp_approval_request mcp_approval_response tool_search_call "
        "tool_search_output item_reference compaction"
    ),
    has("id", "call_id", "encrypted_content", "approval_request_id"),
    lacks("payload", "parentId"),
)
_IS_ITEM: Final = either(both(equals("type", "reasoning"), array("summary")), _ITEM)
_ITEM_TEXT: Final = kind("input_text input_image input_file output_text summary_text")
_ITEM_MESSAGE: Final = both(
    lambda item: item.get("type", "message") == "message", has("role"), holds("content", _ITEM_TEXT)
)
_TYPED_MESSAGE: Final = both(
    equals("type", "message"), has_role, lacks("session_id", "sessionId", "timestamp", "stop_reason")
)
_EASY_MESSAGE: Final = both(only("role", "content"), text("role", "content"))
_RESPONSES_SETTINGS: Final = has(
    "instructions tools max_output_tokens store previous_response_id stream text include"
)

RESPONSES_SIGNS: Final = (
    *signs(
        RESPONSES,
        (0.95, "events of a response", starts("type", "response.")),
        (0.96, "a response", equals("object", "response")),
        (0.9, "an output of items", both(lacks("role"), holds("output", _IS_ITEM))),
        (0.9, "an error in a numbered stream", both(equals("type", "error"), has("sequence_number"))),
        (0.3, "an error with a message", both(inside("error", text("message")), lacks("type"))),
        (0.9, "items of a response", _IS_ITEM),
        (0.9, "text as items have it", _ITEM_MESSAGE),
        (0.7, "messages of type message", _TYPED_MESSAGE),
        (0.35, "a role and a content", _EASY_MESSAGE),
        (
            0.93,
            "items as the input",
            both(
                lacks("role"), holds("input", either(_IS_ITEM, _ITEM_MESSAGE, _TYPED_MESSAGE, has("content")))
            ),
        ),
        (0.93, "an input, and settings of Responses", both(has("input"), text("model"), _RESPONSES_SETTINGS)),
        (0.8, "a model and an input that is text", both(text("model", "input"), lacks("role"))),
        (0.9, "the response that it continues", both(text("previous_response_id"), lacks("output"))),
    ),
    *signs(
        AGENTS,
        (0.97, "items of a run, with the raw item", both(text("type"), mapping("raw_item"))),
        (
            0.97,
            "events of a run",
            kind("raw_response_event", "run_item_stream_event", "agent_updated_stream_event"),
        ),
        (0.97, "ids that the Agents SDK generates", equals("id", "__fake_id__")),
        (
            0.92,
            "a hand-off to another agent",
            both(equals("type", "function_call"), starts("name", "transfer_to_")),
        ),
        (0.6, "items, which its sessions have too", _IS_ITEM),
        (0.6, "text as items have it", _ITEM_MESSAGE),
        (0.3, "a role and a content", _EASY_MESSAGE),
    ),
)

# Servers with Chat Completions: members that only they have, and the names of their models

CHAT: Final = "openai-chat"

_RESPONSE: Final = array("choices")
_REQUEST: Final = array("messages")


def _choice(test: Test) -> Test:
    return both(_RESPONSE, holds("choices", test))


def _usage(*names: str) -> Test:
    return both(_RESPONSE, inside("usage", has(*names)))


def _model(*beginnings: str) -> Test:
    return both(either(_RESPONSE, _REQUEST), starts("model", *beginnings))


_THINKING_LIST: Final = holds("content", both(equals("type", "thinking"), array("thinking")))


def _has_thinking_list(value: JsonObject) -> bool:
    """Whether reasoning is an item of a content, with a list in it."""
    holders = [inner(one, "delta") or inner(one, "message") for one in objects(value.get("choices"))]
    return any(_THINKING_LIST(one) for one in (*holders, *objects(value.get("messages")), value))


_ROUTING: Final = either(mapping("provider"), mapping("reasoning"), array("models"), has("transforms"))
_MISTRAL: Final = ("mistral-", "ministral-", "magistral-", "codestral-", "pixtral-", "devstral-", "open-mi")

SERVER_SIGNS: Final = (
    *signs(
        f"{CHAT}-openrouter",
        (0.97, "a native_finish_reason", _choice(has("native_finish_reason"))),
        (
            0.97,
            "an id of a generation, and its provider",
            both(_RESPONSE, starts("id", "gen-"), text("provider")),
        ),
        (0.96, "routing and reasoning settings of OpenRouter", both(_REQUEST, _ROUTING)),
    ),
    *signs(
        f"{CHAT}-groq",
        (0.97, "x_groq", both(_RESPONSE, has("x_groq", "usage_breakdown"))),
        (0.96, "settings of Groq", both(_REQUEST, has("reasoning_format", "search_settings"))),
        (0.96, "a model of Groq", _model("groq/")),
    ),
    *signs(
        f"{CHAT}-deepseek",
        (
            0.97,
            "hits and misses of DeepSeek's cache",
            _usage("prompt_cache_hit_tokens", "prompt_cache_miss_tokens"),
        ),
        (0.965, "a model of DeepSeek", _model("deepseek-chat", "deepseek-reasoner", "deepseek-v")),
    ),
    *signs(
        f"{CHAT}-mistral",
        (0.97, "thinking in its own list", _has_thinking_list),
        (0.965, "a model of Mistral", _model(*_MISTRAL)),
    ),
    Sign(
        f"{CHAT}-ollama",
        0.97,
        "the fingerprint of Ollama",
        both(_RESPONSE, equals("system_fingerprint", "fp_ollama")),
    ),
    Sign(
        f"{CHAT}-vllm",
        0.965,
        "members of vLLM",
        both(_RESPONSE, has("prompt_logprobs", "prompt_token_ids", "kv_transfer_params")),
    ),
    *signs(
        f"{CHAT}-xai",
        (0.97, "sources that xAI counts", _usage("num_sources_used")),
        (0.965, "a model of xAI", _model("grok-")),
    ),
)

# OpenAI: Chat Completions

_CHAT_ITEM: Final = either(
    both(equals("type", "file"), inside("file", has("file_id", "file_data", "filename"))),
    both(kind("image_url", "input_audio", "refusal", "video_url"), lacks("role")),
)
_CHAT_CALLS: Final = both(has_role, holds("tool_calls", either(mapping("function"), mapping("custom"))))
_CHAT_MEMBERS: Final = both(
    _IS_ASSISTANT,
    has("content"),
    has("reasoning_content reasoning_details refusal function_call tool_calls"),
)
_CHAT_ROLE: Final = both(equals("role", "developer", "function"), has("content"), lacks("type"))
_CHAT_SETTINGS: Final = has(
    "response_format stream_options max_completion_tokens frequency_penalty "
    "presence_penalty logit_bias logprobs n stop functions function_call reasoning_effort "
    "web_search_options seed parallel_tool_calls"
)
_CHAT_ERROR: Final = both(inside("error", text("message")), lacks("type"))


def _is_chat_error(value: JsonObject) -> bool:
    return _CHAT_ERROR(value) and not text("status")(inner(value, "error"))


CHAT_SIGNS: Final = signs(
    CHAT,
    (0.96, "a chat completion, or a chunk of one", starts("object", "chat.completion")),
    (0.9, "choices", holds("choices", has("delta", "message"))),
    (0.9, "the first chunk of Azure", both(_RESPONSE, array("prompt_filter_results"))),
    (0.35, "an error with a message", _is_chat_error),
    (0.3, "an error that is text", both(text("error"), lacks("type"))),
    (0.95, "calls of functions in tool_calls", alone_or_in(_CHAT_CALLS)),
    (0.95, "a result with a tool_call_id", alone_or_in(both(equals("role", "tool"), text("tool_call_id")))),
    (0.92, "items that Chat Completions have", alone_or_in(any_item(_CHAT_ITEM))),
    (0.9, "members that messages of responses have", alone_or_in(_CHAT_MEMBERS)),
    (0.8, "roles that Chat Completions have", alone_or_in(_CHAT_ROLE)),
    (
        0.95,
        "tools of type function",
        both(is_request, holds("tools", both(equals("type", "function"), mapping("function")))),
    ),
    (0.94, "settings of Chat Completions", both(is_request, _CHAT_SETTINGS)),
    (0.75, "a model and system messages", both(text("model"), holds("messages", equals("role", "system")))),
    (
        0.7,
        "a model and messages, and no max_tokens",  # which Anthropic requires
        both(is_request, text("model"), lacks("max_tokens", "system")),
    ),
    (0.5, "an object with messages", is_request),
    (0.45, "a role and a content", is_api_message),
)

PROVIDER_SIGNS: Final = (
    *GEMINI_SIGNS,
    *BEDROCK_SIGNS,
    *COHERE_SIGNS,
    *ANTHROPIC_SIGNS,
    *RESPONSES_SIGNS,
    *SERVER_SIGNS,
    *CHAT_SIGNS,
)
"""If two signs are equally certain, the first one wins: narrower formats come first."""
