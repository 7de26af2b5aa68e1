"""What gives away which server speaks Chat Completions: members of its own, names of its models."""

from collections.abc import Callable
from typing import Final, TypeAlias

from partita.types.json import Json, JsonObject, is_array, is_object

from .openai_chat import CHAT
from .sign import Sign, Test, begins, has_member, inner, is_text, objects

Look: TypeAlias = Callable[[JsonObject], bool]


def _answers(test: Test) -> Test:
    """Sees it in an answer."""
    return lambda value: is_array(value.get("choices")) and test(value)


def _asks(test: Test) -> Test:
    """Sees it in a request."""
    return lambda value: is_array(value.get("messages")) and test(value)


def _choice_has(*names: str) -> Test:
    sees = has_member(*names)
    return _answers(lambda value: any(sees(one) for one in objects(value["choices"])))


def _usage_has(*names: str) -> Test:
    sees = has_member(*names)
    return _answers(lambda value: sees(inner(value, "usage")))


def _model_is(*starts: str) -> Test:
    return lambda value: begins(value, "model", *starts)


def _is_either(test: Test) -> Test:
    return lambda value: (is_array(value.get("choices")) or is_array(value.get("messages"))) and test(value)


def _is_generation(value: JsonObject) -> bool:
    return begins(value, "id", "gen-") and is_text(value, "provider")


def _routes(value: JsonObject) -> bool:
    wishes = is_object(value.get("provider")) or is_object(value.get("reasoning"))
    return wishes or is_array(value.get("models")) or "transforms" in value


def _thinks_in_items(value: JsonObject) -> bool:
    """Whether reasoning is an item of a content, and itself a list."""
    holders = [inner(one, "delta") or inner(one, "message") for one in objects(value.get("choices"))]
    return any(_has_thought(one) for one in (*holders, *objects(value.get("messages")), value))


def _has_thought(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return any(one.get("type") == "thinking" and is_array(one.get("thinking")) for one in objects(content))


MISTRAL: Final = ("mistral-", "ministral-", "magistral-", "codestral-", "pixtral-", "devstral-", "open-mi")

SIGNS: Final = (
    Sign(f"{CHAT}-openrouter", 0.97, "a native_finish_reason", _choice_has("native_finish_reason")),
    Sign(f"{CHAT}-openrouter", 0.97, "an id of a generation, and its provider", _answers(_is_generation)),
    Sign(f"{CHAT}-openrouter", 0.96, "wishes about who answers, and how it reasons", _asks(_routes)),
    Sign(f"{CHAT}-groq", 0.97, "x_groq", _answers(has_member("x_groq", "usage_breakdown"))),
    Sign(f"{CHAT}-groq", 0.96, "settings of Groq", _asks(has_member("reasoning_format", "search_settings"))),
    Sign(f"{CHAT}-groq", 0.96, "a model of Groq", _is_either(_model_is("groq/"))),
    Sign(
        f"{CHAT}-deepseek",
        0.97,
        "hits and misses of DeepSeek's cache",
        _usage_has("prompt_cache_hit_tokens", "prompt_cache_miss_tokens"),
    ),
    Sign(
        f"{CHAT}-deepseek",
        0.965,
        "a model of DeepSeek",
        _is_either(_model_is("deepseek-chat", "deepseek-reasoner", "deepseek-v")),
    ),
    Sign(f"{CHAT}-mistral", 0.97, "thinking in a list of its own", _thinks_in_items),
    Sign(f"{CHAT}-mistral", 0.965, "a model of Mistral", _is_either(_model_is(*MISTRAL))),
    Sign(
        f"{CHAT}-ollama",
        0.97,
        "the fingerprint of Ollama",
        _answers(lambda value: value.get("system_fingerprint") == "fp_ollama"),
    ),
    Sign(
        f"{CHAT}-vllm",
        0.965,
        "members of vLLM",
        _answers(has_member("prompt_logprobs", "prompt_token_ids", "kv_transfer_params")),
    ),
    Sign(f"{CHAT}-xai", 0.97, "sources that xAI counts", _usage_has("num_sources_used")),
    Sign(f"{CHAT}-xai", 0.965, "a model of xAI", _is_either(_model_is("grok-"))),
)
