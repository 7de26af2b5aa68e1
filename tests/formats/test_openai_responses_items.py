"""Items of a response → parts of a message: one item a rule, whole and streamed alike."""

from typing import Final

from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.chunks import type_of
from partita.types.json import Json, JsonObject
from tests.formats.openai_responses_answers import (
    decode,
    function,
    message,
    parts,
    reasoning,
    response,
    streamed,
    told,
    words,
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
MADE: Final[JsonObject] = {
    "type": "container_file_citation",
    "file_id": "cfile_1",
    "container_id": "cntr_1",
    "filename": "plot.png",
    "start_index": 1,
    "end_index": 2,
}
PATH: Final[JsonObject] = {"type": "file_path", "file_id": "file_2", "index": 1}


def text(said: str, **metadata: Json) -> JsonObject:
    return {
        "type": "text",
        "text": said,
        "state": "done",
        "providerMetadata": {"openai": {"itemId": "msg_1", **metadata}},
    }


def thought(said: str, place: int = 0, **metadata: Json) -> JsonObject:
    return {
        "type": "reasoning",
        "text": said,
        "id": f"rs_1:{place}",
        "state": "done",
        "providerMetadata": {"openai": {"itemId": "rs_1", **metadata}},
    }


def call(id: str, name: str, **fields: Json) -> JsonObject:
    return {"type": "tool-call", "id": id, "name": name, "state": "input-available", **fields}


def ran(id: str, name: str, output: Json, item: JsonObject, **fields: Json) -> JsonObject:
    """A call that the provider ran, and the rest of its item."""
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
    "words": ([message(words("High tide"))], [text("High tide")]),
    "an empty message is a message": ([message(words(""))], [text("")]),
    "the phase is kept": (
        [message(words("High"), phase="commentary")],
        [text("High", phase="commentary")],
    ),
    "fields that nobody knows are kept": (
        [message(words("High"), mood="calm")],
        [text("High", item={"mood": "calm"})],
    ),
    "each content part is a text of its own": (
        [message(words("High"), words("Low"))],
        [text("High"), text("Low")],
    ),
    "a refusal is a text that says so": (
        [message({"type": "refusal", "refusal": "No."})],
        [text("No.", refusal=True)],
    ),
    "a page cited is a citation and a source": (
        [message(words("High tide", PAGE))],
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
    "an empty reasoning is one": (
        [reasoning(encrypted_content="Zg==")],
        [thought("", reasoningEncryptedContent="Zg==")],
    ),
    "several summaries are several reasonings, and the last has the encrypted content": (
        [reasoning("Moon", "Sun", encrypted_content="Zg==")],
        [thought("Moon"), thought("Sun", 1, reasoningEncryptedContent="Zg==")],
    ),
    "raw reasoning says that it is raw": (
        [reasoning(content=[{"type": "reasoning_text", "text": "Moon"}])],
        [thought("Moon", type="reasoning_text", reasoningEncryptedContent=None)],
    ),
    "a function call": (
        [function('{"port":"Brest"}')],
        [
            call("call_1", "tide", input={"port": "Brest"})
            | {"callProviderMetadata": {"openai": {"itemId": "fc_1"}}}
        ],
    ),
    "the words of an input are kept when they say more than its value": (
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
    "who called a function, and in which namespace": (
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
    "a local shell is the client's": (
        [{"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {"command": ["ls"]}}],
        [
            call("call_1", "local_shell", input={"command": ["ls"]})
            | {"callProviderMetadata": {"openai": {"itemId": "lsh_1", "type": "local_shell_call"}}}
        ],
    ),
    "a search on the web": (
        [{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "open_page"}}],
        [
            ran(
                "ws_1",
                "web_search",
                {"action": {"type": "openPage"}},
                {"type": "web_search_call", "item": {"status": "completed", "action": {"type": "open_page"}}},
            )
        ],
    ),
    "what a search found stands beside its action": (
        [
            {
                "type": "web_search_call",
                "id": "ws_1",
                "action": {"type": "search", "query": "tide", "sources": [{"url": "https://a.example/"}]},
            }
        ],
        [
            ran(
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
    "a search in files": (
        [
            {
                "type": "file_search_call",
                "id": "fs_1",
                "queries": ["tide"],
                "results": [{"file_id": "file_1", "filename": "tides.pdf", "score": 0.5, "text": "low"}],
            }
        ],
        [
            ran(
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
    "code and what it printed": (
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
            ran(
                "ci_1",
                "code_interpreter",
                {"outputs": [{"type": "logs", "logs": "a"}]},
                {"type": "code_interpreter_call"},
                input={"containerId": "cntr_1", "code": 'print("a\n")'},
            )
        ],
    ),
    "a picture is the output of its call, and a file": (
        [{"type": "image_generation_call", "id": "ig_1", "result": "iVBO", "output_format": "webp"}],
        [
            ran(
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
    "a picture whose status was left behind is a picture": (
        [{"type": "image_generation_call", "id": "ig_1", "result": "iVBO", "status": "generating"}],
        [
            ran(
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
    "a tool that failed": (
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
            ran(
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
    "a tool of an MCP server that failed": (
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
    "a call that someone has to allow": (
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
    "a search for tools has its output in the next item": (
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
            ran(
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
    "a shell in a container is the provider's": (
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
            ran(
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
    "an item that nobody knows is kept": (
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
def test_an_item_of_a_body(items: list[JsonObject], expected: list[JsonObject]) -> None:
    assert parts(ResponsesDecoder().read_body(response(*items))) == expected


@each_row(("items", "expected"), ITEMS.values(), ids=ITEMS)
def test_the_same_item_of_a_stream(items: list[JsonObject], expected: list[JsonObject]) -> None:
    assert parts(decode(streamed(response(*items)))) == expected


def test_log_probabilities_count_once() -> None:
    part = words("High", logprobs=[LOGPROB])
    events = streamed(response(message(part)))
    delta = next(event for event in events if event["type"] == "response.output_text.delta")
    delta["logprobs"] = [LOGPROB]
    assert parts(decode(events)) == [text("High", logprobs=[LOGPROB])]
    assert parts(ResponsesDecoder().read_body(response(message(part)))) == [text("High", logprobs=[LOGPROB])]


SOURCES: Final[dict[str, tuple[JsonObject, list[str]]]] = {
    "a page, behind the text": (PAGE, ["text-end", "source-url"]),
    "a file that was searched, behind the text": (FILE, ["text-end", "source-document"]),
    "a file that was made, at once": (MADE, ["source-document", "text-end"]),
    "a path, at once": (PATH, ["source-document", "text-end"]),
    "a page without an address is none": ({"type": "url_citation"}, ["text-end"]),
    "something new is none": ({"type": "moon"}, ["text-end"]),
}


@each_row(("annotation", "expected"), SOURCES.values(), ids=SOURCES)
def test_where_a_source_is_told(annotation: JsonObject, expected: list[str]) -> None:
    chunks = decode(streamed(response(message(words("High", annotation)))))
    kinds = [type_of(chunk) for chunk in chunks]
    assert [kind for kind in kinds if kind.startswith(("source", "text-end"))] == expected
    assert parts(chunks)[0]["providerMetadata"]["openai"]["annotations"] == [annotation]


FINISHES: Final[dict[str, tuple[JsonObject, str, str | None]]] = {
    "said": (response(message(words("High"))), "stop", "completed"),
    "asked": (response(function("{}")), "tool-calls", "completed"),
    "asked the provider": (response({"type": "web_search_call", "id": "ws_1"}), "stop", "completed"),
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
    "stopped for a reason that is new": (
        response(status="incomplete", incomplete_details={"reason": "steered"}),
        "other",
        "incomplete:steered",
    ),
    "failed": (response(status="failed", error={"message": "No sea"}), "error", "failed"),
    "cancelled": (response(status="cancelled"), "other", "cancelled"),
    "still waiting": (response(status="queued"), "other", "queued"),
}


@each_row(("whole", "reason", "raw"), FINISHES.values(), ids=FINISHES)
def test_why_an_answer_ended(whole: JsonObject, reason: str, raw: str | None) -> None:
    said = told(ResponsesDecoder().read_body(whole))
    assert (said["finishReason"], said["rawFinishReason"]) == (reason, raw)
    assert "complete" not in said


def test_what_an_answer_consumed_and_what_else_is_worth_keeping() -> None:
    whole = response(service_tier="flex", moderation={"flagged": False}, tools=[{"type": "web_search"}])
    said = told(ResponsesDecoder().read_body(whole))
    assert said == {
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
    "no object": ([1], "the body is not a response: array"),
}


@each_row(("body", "expected"), ERRORS.values(), ids=ERRORS)
def test_an_error_instead_of_an_answer(body: Json, expected: str) -> None:
    said = told(ResponsesDecoder().read_body(body))
    assert said == {"finishReason": "error", "errors": [expected]}
