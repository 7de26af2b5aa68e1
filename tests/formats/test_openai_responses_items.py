"""Items of a response → parts of a message, from bodies and from streams."""

from typing import Final

from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.chunks import type_of
from partita.types.json import Json, JsonObject
from tests.formats.openai_responses_samples import (
    decode,
    finish_metadata,
    function,
    message,
    output_text,
    parts,
    reasoning,
    response,
    stream_of,
)
from tests.tables import each_row

PAGE: Final[JsonObject] = {
    "type": "url_citation",
    "url": "https://tides.example/",
    "title": "Tides",
    "start_index": 0,
    "end_index": 4,
}
FILE: Final[JsonObject] = {"type": "file_citation", "file_id": "file_1", "filename": "tides.pdf", "index": 3}
CREATED_FILE: Final[JsonObject] = {
    "type": "container_file_citation",
    "file_id": "cfile_1",
    "container_id": "cntr_1",
    "filename": "plot.png",
    "start_index": 1,
    "end_index": 2,
}
PATH: Final[JsonObject] = {"type": "file_path", "file_id": "file_2", "index": 1}


def text(content: str, **metadata: Json) -> JsonObject:
    return {
        "type": "text",
        "text": content,
        "state": "done",
        "providerMetadata": {"openai": {"itemId": "msg_1", **metadata}},
    }


def reasoning_part(content: str, place: int = 0, **metadata: Json) -> JsonObject:
    return {
        "type": "reasoning",
        "text": content,
        "id": f"rs_1:{place}",
        "state": "done",
        "providerMetadata": {"openai": {"itemId": "rs_1", **metadata}},
    }


def call(id: str, name: str, **fields: Json) -> JsonObject:
    return {"type": "tool-call", "id": id, "name": name, "state": "input-available", **fields}


def provider_call(id: str, name: str, output: Json, item: JsonObject, **fields: Json) -> JsonObject:
    """Return a provider-executed call with the other members of its item."""
    kept = {"itemId": id, **item}
    return {
        **call(id, name, **{"input": {}, **fields}),
        "state": "output-available",
        "output": {"type": "json", "value": output},
        "providerExecuted": True,
        "resultProviderMetadata": {"openai": kept},
    }


LOGPROB: Final[JsonObject] = {"token": "High", "logprob": -0.5, "bytes": [72], "top_logprobs": []}
RENAMED: Final[JsonObject] = {"fileId": "file_1", "filename": "tides.pdf", "score": 0.5, "text": "low"}
CONTAINER: Final[JsonObject] = {"type": "container_reference", "container_id": "cntr_1"}

ITEMS: Final[dict[str, tuple[list[JsonObject], list[JsonObject]]]] = {
    "words": ([message(output_text("High tide"))], [text("High tide")]),
    "an empty message is an empty text": ([message(output_text(""))], [text("")]),
    "the phase is kept": (
        [message(output_text("High"), phase="commentary")],
        [text("High", phase="commentary")],
    ),
    "unknown members are kept": (
        [message(output_text("High"), mood="calm")],
        [text("High", item={"mood": "calm"})],
    ),
    "each content part is a separate text": (
        [message(output_text("High"), output_text("Low"))],
        [text("High"), text("Low")],
    ),
    "a refusal is a text with a mark": (
        [message({"type": "refusal", "refusal": "No."})],
        [text("No.", refusal=True)],
    ),
    "a cited page is a citation and a source": (
        [message(output_text("High tide", PAGE))],
        [
            text("High tide", annotations=[PAGE])
            | {
                "citations": [
                    {
                        "source": {
                            "sourceType": "url",
                            "id": PAGE["url"],
                            "url": PAGE["url"],
                            "title": "Tides",
                            "type": "source",
                        },
                        "startIndex": 0,
                        "endIndex": 4,
                    }
                ]
            },
            {"type": "source-url", "sourceId": "source-1", "url": PAGE["url"], "title": "Tides"},
        ],
    ),
    "empty reasoning is kept": (
        [reasoning(encrypted_content="Zg==")],
        [reasoning_part("", reasoningEncryptedContent="Zg==")],
    ),
    "each summary is a reasoning part, and the last one has the encrypted content": (
        [reasoning("Moon", "Sun", encrypted_content="Zg==")],
        [reasoning_part("Moon"), reasoning_part("Sun", 1, reasoningEncryptedContent="Zg==")],
    ),
    "raw reasoning has a mark": (
        [reasoning(content=[{"type": "reasoning_text", "text": "Moon"}])],
        [reasoning_part("Moon", type="reasoning_text", reasoningEncryptedContent=None)],
    ),
    "a function call": (
        [function('{"port":"Brest"}')],
        [
            call("call_1", "tide", input={"port": "Brest"})
            | {"callProviderMetadata": {"openai": {"itemId": "fc_1"}}}
        ],
    ),
    "an unusual spelling of an input is kept": (
        [function('{"port": "Brest"}')],
        [
            call("call_1", "tide", input={"port": "Brest"})
            | {"callProviderMetadata": {"openai": {"itemId": "fc_1", "rawInput": '{"port": "Brest"}'}}}
        ],
    ),
    "no arguments are an empty object": (
        [function("")],
        [
            call("call_1", "tide", input={})
            | {"callProviderMetadata": {"openai": {"itemId": "fc_1", "rawInput": ""}}}
        ],
    ),
    "the caller and the namespace of a function": (
        [function("{}", namespace="sea", caller={"type": "program", "caller_id": "call_9"})],
        [
            call("call_1", "tide", input={})
            | {
                "callProviderMetadata": {
                    "openai": {
                        "itemId": "fc_1",
                        "namespace": "sea",
                        "caller": {"type": "program", "callerId": "call_9"},
                    }
                }
            }
        ],
    ),
    "calls with the same id stay two calls": (
        [function("{}"), function("{}", id="fc_2")],
        [
            call("call_1", "tide", input={}) | {"callProviderMetadata": {"openai": {"itemId": "fc_1"}}},
            call("call_1:2", "tide", input={}) | {"callProviderMetadata": {"openai": {"itemId": "fc_2"}}},
        ],
    ),
    "the input of a custom tool is text": (
        [
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "call_id": "call_1",
                "name": "sql",
                "input": "select 1",
            }
        ],
        [
            call("call_1", "sql", input="select 1")
            | {"callProviderMetadata": {"openai": {"itemId": "ctc_1", "type": "custom_tool_call"}}}
        ],
    ),
    "a patch is its operation": (
        [
            {
                "type": "apply_patch_call",
                "id": "apc_1",
                "call_id": "call_1",
                "operation": {"type": "create_file", "path": "a.md", "diff": "+tide\n"},
            }
        ],
        [
            call("call_1", "apply_patch", input={"type": "create_file", "path": "a.md", "diff": "+tide\n"})
            | {"callProviderMetadata": {"openai": {"itemId": "apc_1", "type": "apply_patch_call"}}}
        ],
    ),
    "a local shell is a client tool": (
        [{"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {"command": ["ls"]}}],
        [
            call("call_1", "local_shell", input={"command": ["ls"]})
            | {"callProviderMetadata": {"openai": {"itemId": "lsh_1", "type": "local_shell_call"}}}
        ],
    ),
    "a web search": (
        [{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "open_page"}}],
        [
            provider_call(
                "ws_1",
                "web_search",
                {"action": {"type": "openPage"}},
                {"type": "web_search_call", "item": {"status": "completed", "action": {"type": "open_page"}}},
            )
        ],
    ),
    "results of a search are next to its action": (
        [
            {
                "type": "web_search_call",
                "id": "ws_1",
                "action": {"type": "search", "query": "tide", "sources": [{"url": "https://a.example/"}]},
            }
        ],
        [
            provider_call(
                "ws_1",
                "web_search",
                {"action": {"type": "search", "query": "tide"}, "sources": [{"url": "https://a.example/"}]},
                {
                    "type": "web_search_call",
                    "item": {
                        "action": {
                            "type": "search",
                            "query": "tide",
                            "sources": [{"url": "https://a.example/"}],
                        }
                    },
                },
            ),
            {"type": "source-url", "sourceId": "source-1", "url": "https://a.example/"},
        ],
    ),
    "a file search": (
        [
            {
                "type": "file_search_call",
                "id": "fs_1",
                "queries": ["tide"],
                "results": [{"file_id": "file_1", "filename": "tides.pdf", "score": 0.5, "text": "low"}],
            }
        ],
        [
            provider_call(
                "fs_1",
                "file_search",
                {"queries": ["tide"], "results": [RENAMED]},
                {"type": "file_search_call"},
            ),
            {
                "type": "source-document",
                "sourceId": "source-1",
                "mediaType": "text/plain",
                "title": "tides.pdf",
                "filename": "tides.pdf",
                "providerMetadata": {"openai": {"type": "file_search", "fileId": "file_1"}},
            },
        ],
    ),
    "code and its logs": (
        [
            {
                "type": "code_interpreter_call",
                "id": "ci_1",
                "code": 'print("a\n")',
                "container_id": "cntr_1",
                "outputs": [{"type": "logs", "logs": "a"}],
            }
        ],
        [
            provider_call(
                "ci_1",
                "code_interpreter",
                {"outputs": [{"type": "logs", "logs": "a"}]},
                {"type": "code_interpreter_call"},
                input={"containerId": "cntr_1", "code": 'print("a\n")'},
            )
        ],
    ),
    "an image is the output of its call, and a file": (
        [{"type": "image_generation_call", "id": "ig_1", "result": "iVBO", "output_format": "webp"}],
        [
            provider_call(
                "ig_1",
                "image_generation",
                {"result": "iVBO"},
                {"type": "image_generation_call", "item": {"output_format": "webp"}},
            ),
            {
                "type": "file",
                "url": "data:image/webp;base64,iVBO",
                "mediaType": "image/webp",
                "providerMetadata": {"openai": {"itemId": "ig_1"}},
            },
        ],
    ),
    "an image without a final status": (
        [{"type": "image_generation_call", "id": "ig_1", "result": "iVBO", "status": "generating"}],
        [
            provider_call(
                "ig_1",
                "image_generation",
                {"result": "iVBO"},
                {"type": "image_generation_call", "item": {"status": "generating"}},
            ),
            {
                "type": "file",
                "url": "data:image/png;base64,iVBO",
                "mediaType": "image/png",
                "providerMetadata": {"openai": {"itemId": "ig_1"}},
            },
        ],
    ),
    "a failed tool": (
        [{"type": "file_search_call", "id": "fs_1", "queries": ["tide"], "status": "failed"}],
        [
            {
                **call("fs_1", "file_search", input={}),
                "state": "output-error",
                "output": {"type": "error-text", "value": '{"status":"failed"}'},
                "providerExecuted": True,
                "resultProviderMetadata": {
                    "openai": {
                        "itemId": "fs_1",
                        "type": "file_search_call",
                        "item": {"queries": ["tide"], "status": "failed"},
                    }
                },
            }
        ],
    ),
    "a tool of an MCP server": (
        [
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "name": "tide",
                "arguments": '{"port":"Brest"}',
                "server_label": "sea",
                "output": "4 m",
                "error": None,
            }
        ],
        [
            provider_call(
                "mcp_1",
                "tide",
                {
                    "type": "call",
                    "serverLabel": "sea",
                    "name": "tide",
                    "arguments": '{"port":"Brest"}',
                    "output": "4 m",
                },
                {"type": "mcp_call", "item": {"server_label": "sea", "error": None}},
                input={"port": "Brest"},
                dynamic=True,
            )
        ],
    ),
    "a failed tool of an MCP server": (
        [
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "name": "tide",
                "arguments": "{}",
                "error": {"type": "http_error", "code": 500, "message": "no sea"},
            }
        ],
        [
            {
                **call("mcp_1", "tide", input={}, dynamic=True),
                "state": "output-error",
                "output": {"type": "error-text", "value": "no sea"},
                "providerExecuted": True,
                "resultProviderMetadata": {
                    "openai": {
                        "itemId": "mcp_1",
                        "type": "mcp_call",
                        "item": {"error": {"type": "http_error", "code": 500, "message": "no sea"}},
                    }
                },
            }
        ],
    ),
    "a call that needs approval": (
        [
            {
                "type": "mcp_approval_request",
                "id": "mcpr_1",
                "name": "tide",
                "arguments": "{}",
                "server_label": "sea",
            }
        ],
        [
            {
                **call("mcpr_1", "tide", input={}, dynamic=True),
                "state": "approval-requested",
                "approval": {"id": "mcpr_1"},
                "providerExecuted": True,
                "callProviderMetadata": {
                    "openai": {
                        "itemId": "mcpr_1",
                        "type": "mcp_approval_request",
                        "item": {"server_label": "sea"},
                    }
                },
            }
        ],
    ),
    "a tool search has its output in the next item": (
        [
            {
                "type": "tool_search_call",
                "id": "tsc_1",
                "execution": "server",
                "arguments": {"paths": ["sea"]},
            },
            {"type": "tool_search_output", "id": "tso_1", "execution": "server", "tools": [{"name": "tide"}]},
        ],
        [
            provider_call(
                "tsc_1",
                "tool_search",
                {"tools": [{"name": "tide"}]},
                {"itemId": "tso_1", "type": "tool_search_output", "item": {"execution": "server"}},
                input={"paths": ["sea"]},
            )
            | {
                "callProviderMetadata": {
                    "openai": {
                        "itemId": "tsc_1",
                        "type": "tool_search_call",
                        "item": {"execution": "server"},
                    }
                }
            }
        ],
    ),
    "a shell in a container is provider-executed": (
        [
            {
                "type": "shell_call",
                "id": "sh_1",
                "call_id": "call_1",
                "action": {"commands": ["ls"]},
                "environment": CONTAINER,
            },
            {
                "type": "shell_call_output",
                "id": "sho_1",
                "call_id": "call_1",
                "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
        ],
        [
            provider_call(
                "call_1",
                "shell",
                {"output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exitCode": 0}}]},
                {"itemId": "sho_1", "type": "shell_call_output"},
                input={"commands": ["ls"]},
            )
            | {
                "callProviderMetadata": {
                    "openai": {"itemId": "sh_1", "type": "shell_call", "item": {"environment": CONTAINER}}
                }
            }
        ],
    ),
    "an output without its call is kept": (
        [{"type": "program_output", "id": "po_1", "call_id": "call_0", "result": "4"}],
        [
            {
                "type": "custom",
                "kind": "openai.program_output",
                "providerMetadata": {
                    "openai": {
                        "type": "program_output",
                        "itemId": "po_1",
                        "item": {"call_id": "call_0", "result": "4"},
                    }
                },
            }
        ],
    ),
    "a compaction": (
        [{"type": "compaction", "id": "cmp_1", "encrypted_content": "Zg=="}],
        [
            {
                "type": "custom",
                "kind": "openai.compaction",
                "providerMetadata": {
                    "openai": {"type": "compaction", "itemId": "cmp_1", "encryptedContent": "Zg=="}
                },
            }
        ],
    ),
    "an unknown item is kept": (
        [{"type": "moon_call", "id": "mo_1", "phase": "full"}],
        [
            {
                "type": "custom",
                "kind": "openai.moon_call",
                "providerMetadata": {
                    "openai": {"type": "moon_call", "itemId": "mo_1", "item": {"phase": "full"}}
                },
            }
        ],
    ),
}


@each_row(("items", "expected"), ITEMS.values(), ids=ITEMS)
def test_items_of_a_body_become_parts(items: list[JsonObject], expected: list[JsonObject]) -> None:
    assert parts(ResponsesDecoder().read_body(response(*items))) == expected


@each_row(("items", "expected"), ITEMS.values(), ids=ITEMS)
def test_streamed_items_become_the_same_parts(items: list[JsonObject], expected: list[JsonObject]) -> None:
    assert parts(decode(stream_of(response(*items)))) == expected


def test_log_probabilities_are_read_once() -> None:
    part = output_text("High", logprobs=[LOGPROB])
    events = stream_of(response(message(part)))
    delta = next(event for event in events if event["type"] == "response.output_text.delta")
    delta["logprobs"] = [LOGPROB]
    assert parts(decode(events)) == [text("High", logprobs=[LOGPROB])]
    assert parts(ResponsesDecoder().read_body(response(message(part)))) == [text("High", logprobs=[LOGPROB])]


SOURCES: Final[dict[str, tuple[JsonObject, list[str]]]] = {
    "a page, after the text": (PAGE, ["text-end", "source-url"]),
    "a searched file, after the text": (FILE, ["text-end", "source-document"]),
    "a created file, at once": (CREATED_FILE, ["source-document", "text-end"]),
    "a path, at once": (PATH, ["source-document", "text-end"]),
    "a page without a URL is not a source": ({"type": "url_citation"}, ["text-end"]),
    "an unknown annotation is not a source": ({"type": "moon"}, ["text-end"]),
}


@each_row(("annotation", "expected"), SOURCES.values(), ids=SOURCES)
def test_sources_are_sent_at_once_or_after_the_text(annotation: JsonObject, expected: list[str]) -> None:
    chunks = decode(stream_of(response(message(output_text("High", annotation)))))
    kinds = [type_of(chunk) for chunk in chunks]
    assert [kind for kind in kinds if kind.startswith(("source", "text-end"))] == expected
    assert parts(chunks)[0]["providerMetadata"]["openai"]["annotations"] == [annotation]


FINISHES: Final[dict[str, tuple[JsonObject, str, str | None]]] = {
    "said": (response(message(output_text("High"))), "stop", "completed"),
    "asked": (response(function("{}")), "tool-calls", "completed"),
    "a call of a server tool": (response({"type": "web_search_call", "id": "ws_1"}), "stop", "completed"),
    "refused": (response(message({"type": "refusal", "refusal": "No."})), "content-filter", "completed"),
    "too long": (
        response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        "length",
        "incomplete:max_output_tokens",
    ),
    "filtered": (
        response(status="incomplete", incomplete_details={"reason": "content_filter"}),
        "content-filter",
        "incomplete:content_filter",
    ),
    "stopped for an unknown reason": (
        response(status="incomplete", incomplete_details={"reason": "steered"}),
        "other",
        "incomplete:steered",
    ),
    "failed": (response(status="failed", error={"message": "No sea"}), "error", "failed"),
    "cancelled": (response(status="cancelled"), "other", "cancelled"),
    "queued": (response(status="queued"), "other", "queued"),
}


@each_row(("whole", "reason", "raw"), FINISHES.values(), ids=FINISHES)
def test_finish_reasons(whole: JsonObject, reason: str, raw: str | None) -> None:
    metadata = finish_metadata(ResponsesDecoder().read_body(whole))
    assert (metadata["finishReason"], metadata["rawFinishReason"]) == (reason, raw)
    assert "complete" not in metadata


def test_usage_and_other_members_become_metadata() -> None:
    whole = response(service_tier="flex", moderation={"flagged": False}, tools=[{"type": "web_search"}])
    metadata = finish_metadata(ResponsesDecoder().read_body(whole))
    assert metadata == {
        "finishReason": "stop",
        "rawFinishReason": "completed",
        "usage": {
            "inputTokens": 40,
            "outputTokens": 12,
            "totalTokens": 52,
            "reasoningTokens": 5,
            "cachedInputTokens": 8,
            "cacheWriteTokens": 4,
            "raw": whole["usage"],
        },
        "model": "tide-1",
        "responseId": "resp_1",
        "openai": {"serviceTier": "flex", "moderation": {"flagged": False}},
    }


ERRORS: Final[dict[str, tuple[Json, str]]] = {
    "an object": ({"error": {"message": "No sea", "code": "dry"}}, "No sea"),
    "a string": ({"code": "dry", "error": "No sea"}, "No sea"),
    "a detail": ({"detail": "No sea"}, "No sea"),
    "details": ({"detail": [{"message": "No sea"}]}, "No sea"),
    "only a code": ({"error": {"code": "dry"}}, "dry"),
    "nothing": ({}, "{}"),
    "not an object": ([1], "the body is not a response: array"),
}


@each_row(("body", "expected"), ERRORS.values(), ids=ERRORS)
def test_an_error_body_becomes_an_error(body: Json, expected: str) -> None:
    metadata = finish_metadata(ResponsesDecoder().read_body(body))
    assert metadata == {"finishReason": "error", "errors": [expected]}
