"""Chat Completions streams → parts of a message."""

from typing import Any

from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.chunks import Chunk, DataChunk, ErrorChunk, MessageFinish, type_of
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from tests.decoding import accumulated
from tests.formats.openai_chat_samples import body, call_delta, decoded, record
from tests.tables import each_row


def parts_of(chunks: list[Chunk]) -> list[JsonObject]:
    """Return the parts of the message as JSON, without step starts, states of texts and ids of reasoning."""
    parts: list[JsonObject] = [to_json(part) for part in accumulated(chunks).parts]
    return [
        {
            key: value
            for key, value in part.items()
            if (key, value) != ("state", "done") and (key, part["type"]) != ("id", "reasoning")
        }
        for part in parts
        if part["type"] != "step-start"
    ]


def metadata_of(chunks: list[Chunk]) -> JsonObject:
    """Return the metadata of the message."""
    metadata = accumulated(chunks).content.metadata
    return metadata if is_object(metadata) else {}


def text(content: str, **facts: Any) -> JsonObject:
    return {"type": "text", "text": content, **({"providerMetadata": {"openai": facts}} if facts else {})}


def reasoning(content: str, **facts: Any) -> JsonObject:
    return {"type": "reasoning", "text": content, "providerMetadata": {"openai": facts}}


def call(call_id: str, name: str, given: Json, **facts: Any) -> JsonObject:
    metadata = {"callProviderMetadata": {"openai": facts}} if facts else {}
    begun = {"type": "tool-call", "id": call_id, "name": name, "state": "input-available"}
    return {**begun, "input": given, **metadata}


LOGPROB = {"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}

PARTS: dict[str, tuple[list[Json], list[JsonObject]]] = {
    "text deltas are joined": (
        [record({"role": "assistant", "content": ""}), record({"content": "Hel"}), record({"content": "lo"})],
        [text("Hello")],
    ),
    "a role repeated in every delta changes nothing": (
        [record({"role": "assistant", "content": "a"}), record({"role": "assistant", "content": "b"})],
        [text("ab")],
    ),
    "a refusal is a text with a mark": (
        [record({"content": None, "refusal": "I "}), record({"refusal": "won't"})],
        [text("I won't", refusal=True)],
    ),
    "interleaved calls are separated by index": (
        [
            record(
                {
                    "tool_calls": [
                        call_delta(0, "", id="a", name="sum"),
                        call_delta(1, "", id="b", name="product"),
                    ]
                }
            ),
            record({"tool_calls": [call_delta(1, '{"x":')]}),
            record({"tool_calls": [call_delta(0, '{"y":1}'), call_delta(1, "2}")]}),
        ],
        [call("a", "sum", {"y": 1}), call("b", "product", {"x": 2})],
    ),
    "an unusual spelling of an input is kept": (
        [record({"tool_calls": [call_delta(0, '{ "y": 1 }', id="a", name="sum")]})],
        [call("a", "sum", {"y": 1}, rawInput='{ "y": 1 }')],
    ),
    "no arguments are an empty object": (
        [record({"tool_calls": [call_delta(0, None, id="a", name="now")]})],
        [call("a", "now", {}, rawInput="")],
    ),
    "an empty id or name does not overwrite": (
        [
            record({"tool_calls": [call_delta(0, '{"q"', id="a", name="find")]}),
            record({"tool_calls": [call_delta(0, ":1}", id="", name="")]}),
        ],
        [call("a", "find", {"q": 1})],
    ),
    "without an index a new id starts a call, and no id continues the last call": (
        [
            record({"tool_calls": [call_delta(None, '{"q"', id="a", name="find")]}),
            record({"tool_calls": [call_delta(None, ":1}")]}),
            record({"tool_calls": [call_delta(None, "{}", id="b", name="find")]}),
        ],
        [call("a", "find", {"q": 1}), call("b", "find", {})],
    ),
    "one index with another id and name is another call": (
        [
            record({"tool_calls": [call_delta(0, "{}", id="a", name="one")]}),
            record({"tool_calls": [call_delta(0, "{}", id="b", name="two")]}),
        ],
        [call("a", "one", {}), call("b", "two", {})],
    ),
    "a call without an id gets one derived from the response id": (
        [record({"tool_calls": [call_delta(0, "{}", id="", name="one")]})],
        [call("answer-1-0", "one", {}, id="")],
    ),
    "a repeated id is replaced": (
        [
            record(
                {
                    "tool_calls": [
                        call_delta(0, "{}", id="a", name="one"),
                        call_delta(1, "{}", id="a", name="two"),
                    ]
                }
            )
        ],
        [call("a", "one", {}), call("answer-1-1", "two", {}, id="a")],
    ),
    "arguments may be a value instead of a text": (
        [record({"tool_calls": [call_delta(0, {"q": [1]}, id="a", name="find")]})],
        [call("a", "find", {"q": [1]})],
    ),
    "input may precede the name": (
        [
            record({"tool_calls": [call_delta(0, '{"q":', id="a")]}),
            record({"tool_calls": [call_delta(0, "1}", name="find")]}),
        ],
        [call("a", "find", {"q": 1})],
    ),
    "a call without a name is kept": (
        [record({"tool_calls": [call_delta(0, "{}", id="a")]})],
        [call("a", "unknown-tool", {})],
    ),
    "a signature of a call is kept": (
        [
            record(
                {
                    "tool_calls": [
                        call_delta(
                            0,
                            "{}",
                            id="a",
                            name="find",
                            extra_content={"google": {"thought_signature": "s1g"}},
                        )
                    ]
                }
            )
        ],
        [
            call(
                "a",
                "find",
                {},
                fields={"extra_content": {"google": {"thought_signature": "s1g"}}},
                thoughtSignature="s1g",
            )
        ],
    ),
    "a custom tool takes free text": (
        [
            record({"tool_calls": [{"index": 0, "id": "a", "custom": {"name": "sql", "input": "select "}}]}),
            record({"tool_calls": [{"index": 0, "custom": {"input": "1"}}]}),
        ],
        [call("a", "sql", "select 1", type="custom")],
    ),
    "a legacy function call is kept": (
        [
            record({"function_call": {"name": "find", "arguments": ""}}),
            record({"function_call": {"arguments": "{}"}}),
        ],
        [
            {
                "type": "custom",
                "kind": "openai.function_call",
                "providerMetadata": {"openai": {"name": "find", "arguments": "{}"}},
            }
        ],
    ),
    "reasoning ends where text begins": (
        [record({"reasoning_content": "hm"}), record({"reasoning_content": "", "content": "Yes"})],
        [reasoning("hm", field="reasoning_content"), text("Yes")],
    ),
    "reasoning between texts keeps its position": (
        [record({"content": "a"}), record({"reasoning": "hm"}), record({"content": "b"})],
        [text("a"), reasoning("hm", field="reasoning"), text("b")],
    ),
    "reasoning may be an object with content": (
        [record({"reasoning": {"content": "hm"}})],
        [reasoning("hm", field="reasoning")],
    ),
    "repeated reasoning is read once": (
        [
            record(
                {
                    "reasoning": "hm",
                    "reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}],
                }
            ),
            record(
                {
                    "reasoning_details": [
                        {"type": "reasoning.text", "signature": "s1g", "index": 0, "text": ""}
                    ]
                }
            ),
            record({"content": "Yes"}),
        ],
        [
            reasoning(
                "hm",
                field="reasoning",
                reasoning_details=[{"type": "reasoning.text", "text": "hm", "index": 0, "signature": "s1g"}],
            ),
            text("Yes"),
        ],
    ),
    "reasoning may be in details only": (
        [record({"reasoning_details": [{"type": "reasoning.summary", "summary": "in short"}]})],
        [
            reasoning(
                "in short",
                field="reasoning_details",
                reasoning_details=[{"type": "reasoning.summary", "summary": "in short"}],
            )
        ],
    ),
    "encrypted reasoning has no text": (
        [
            record({"reasoning_details": [{"type": "reasoning.encrypted", "data": "b1ob", "id": "r1"}]}),
            record({"content": "Yes"}),
        ],
        [
            reasoning("", reasoning_details=[{"type": "reasoning.encrypted", "data": "b1ob", "id": "r1"}]),
            text("Yes"),
        ],
    ),
    "content may change between string and list": (
        [
            record({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]}),
            record({"content": [{"type": "thinking", "thinking": "m", "signature": "s1g", "closed": True}]}),
            record({"content": [{"type": "text", "text": "Y"}]}),
            record({"content": "es"}),
        ],
        [reasoning("hm", field="thinking", signature="s1g"), text("Yes")],
    ),
    "unknown items are custom parts": (
        [record({"content": [{"type": "reference", "reference_ids": [1]}]})],
        [
            {
                "type": "custom",
                "kind": "openai.reference",
                "providerMetadata": {"openai": {"type": "reference", "reference_ids": [1]}},
            }
        ],
    ),
    "log probabilities belong to their text": (
        [record({"content": "Hi"}, choice={"logprobs": {"content": [LOGPROB], "refusal": None}})],
        [text("Hi", logprobs=[LOGPROB])],
    ),
    "a signature of the message belongs to its text": (
        [record({"content": "Hi", "extra_content": {"google": {"thought_signature": "s1g"}}})],
        [text("Hi", extra_content={"google": {"thought_signature": "s1g"}})],
    ),
    "listed pages become sources once": (
        [record({"content": "a"}, citations=["https://x.test"]), record({}, citations=["https://x.test"])],
        [{"type": "source-url", "sourceId": "source-0", "url": "https://x.test"}, text("a")],
    ),
    "images become files": (
        [record({"images": [{"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lG"}}]})],
        [{"type": "file", "url": "data:image/gif;base64,R0lG", "mediaType": "image/gif"}],
    ),
    "audio becomes one file with its transcript": (
        [
            record({"audio": {"id": "au", "data": "QQ==", "transcript": "Good "}}),
            record({"audio": {"data": "Qg==", "transcript": "day"}}),
        ],
        [
            {
                "type": "file",
                "url": "data:audio;base64,QUI=",
                "mediaType": "audio",
                "providerMetadata": {"openai": {"audio": {"id": "au", "transcript": "Good day"}}},
            }
        ],
    ),
    "values that are not records are kept": (
        [{"type": "ping"}, 7],
        [
            {"type": "data", "name": "openai-unknown", "data": {"type": "ping"}},
            {"type": "data", "name": "openai-unknown", "data": 7},
        ],
    ),
}


@each_row(("records", "parts"), PARTS.values(), ids=PARTS)
def test_records_become_parts(records: list[Json], parts: list[JsonObject]) -> None:
    assert parts_of(decoded([*records, record(finish="stop")])) == parts


def test_a_citation_becomes_a_source_and_a_citation_of_the_text() -> None:
    cited = {"url": "https://x.test", "title": "X", "start_index": 0, "end_index": 2}
    annotation = {"type": "url_citation", "url_citation": cited}
    records = [record({"content": "Hi"}), record({"annotations": [annotation]}), record(finish="stop")]
    part, source = parts_of(decoded([*records[:2], *records[1:]]))
    assert part["citations"] == [
        {
            "source": {"id": "source-0", "url": "https://x.test", "title": "X", "sourceType": "url"},
            "startIndex": 0,
            "endIndex": 2,
        }
    ]
    assert (source["type"], source["url"], source["title"]) == ("source-url", "https://x.test", "X")


def test_a_tool_that_the_server_runs_has_its_complete_output() -> None:
    tool = {"index": 0, "type": "search", "arguments": '{"query":"tea"}'}
    found = {"output": "Tea.", "search_results": {"results": [{"url": "https://tea.test"}]}}
    records: list[Json] = [
        record({"executed_tools": [{**tool, "search_results": {"results": []}}]}),
        record({"executed_tools": [{**tool, **found}]}, id="answer-2"),
        record({"content": "Tea."}, finish="stop"),
    ]
    search, answer = parts_of(decoded(records))
    assert search == {
        **call("answer-1-0", "search", {"query": "tea"}, index=0),
        "state": "output-available",
        "output": {"type": "json", "value": found},
        "providerExecuted": True,
    }
    assert answer == text("Tea.")


CALL_DELTA = {"tool_calls": [call_delta(0, "{}", id="a", name="f")]}
BUSY = {"message": "busy"}

ENDS: dict[str, tuple[list[Json], str, str | None]] = {
    "stop": ([record({"content": "a"}, finish="stop")], "stop", "stop"),
    "a call": ([record(CALL_DELTA, finish="tool_calls")], "tool-calls", "tool_calls"),
    "a call forced by name": ([record(CALL_DELTA, finish="stop")], "tool-calls", "stop"),
    "a legacy call": ([record(finish="function_call")], "tool-calls", "function_call"),
    "length": ([record(finish="length")], "length", "length"),
    "a filter": ([record(finish="content_filter")], "content-filter", "content_filter"),
    "a refusal": ([record({"refusal": "No."}, finish="stop")], "content-filter", "stop"),
    "an unknown reason": ([record(finish="whim")], "other", "whim"),
    "the first reason": ([record(finish=word) for word in ("", "length", "stop")], "length", "length"),
    "an error": ([{"error": BUSY}], "error", None),
    "an error next to a response": ([record(finish="error", error=BUSY)], "error", "error"),
    "nothing": ([record({"content": "a"})], "interrupted", None),
    "an empty stream": ([], "interrupted", None),
}


@each_row(("records", "reason", "raw"), ENDS.values(), ids=ENDS)
def test_finish_reasons(records: list[Json], reason: str, raw: str | None) -> None:
    metadata = metadata_of(decoded(records))
    assert (metadata["finishReason"], metadata.get("rawFinishReason")) == (reason, raw)
    assert metadata.get("complete", True) is bool(raw)


USAGES: dict[str, tuple[JsonObject, JsonObject]] = {
    "details": (
        {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "total_tokens": 14,
            "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
        {
            "inputTokens": 9,
            "outputTokens": 5,
            "totalTokens": 14,
            "reasoningTokens": 3,
            "cachedInputTokens": 4,
            "cacheWriteTokens": 2,
        },
    ),
    "DeepSeek counts cache hits": (
        {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4},
        {"inputTokens": 9, "cachedInputTokens": 4},
    ),
    "Mistral counts cached tokens": (
        {"prompt_tokens": 9, "num_cached_tokens": 4},
        {"inputTokens": 9, "cachedInputTokens": 4},
    ),
    "xAI leaves reasoning out of the output": (
        {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "total_tokens": 17,
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
        {"inputTokens": 9, "outputTokens": 8, "totalTokens": 17, "reasoningTokens": 3},
    ),
    "a larger total is kept": (
        {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 40},
        {"inputTokens": 9, "outputTokens": 5, "totalTokens": 40},
    ),
    "invalid counts are ignored": ({"prompt_tokens": "9", "completion_tokens": -1, "x": True}, {}),
}


@each_row(("raw", "counts"), USAGES.values(), ids=USAGES)
def test_usage_is_read(raw: JsonObject, counts: JsonObject) -> None:
    records: list[Json] = [record({"content": "a"}, finish="stop"), {"choices": [], "usage": raw}]
    assert metadata_of(decoded(records))["usage"] == {**counts, "raw": raw}


def test_the_last_usage_is_used() -> None:
    records: list[Json] = [record({}, usage={"prompt_tokens": n}, finish="stop") for n in (1, 2, 3)]
    assert metadata_of(decoded([*records, record({}, usage=None)]))["usage"]["inputTokens"] == 3


def test_usage_in_the_member_of_groq() -> None:
    last = record({}, finish="stop", x_groq={"id": "req", "usage": {"prompt_tokens": 4}})
    assert metadata_of(decoded([last]))["usage"]["inputTokens"] == 4


ERRORS: dict[str, tuple[Json, list[str]]] = {
    "an object": ({"error": {"message": "busy", "code": 429}}, ["busy"]),
    "a string": ({"code": "x", "error": "no key"}, ["no key"]),
    "a list": ([{"error": {"message": "bad"}}], ["bad"]),
    "an object without a message": ({"error": {"status": 500}}, ['{"status":500}']),
    "flat": ({"object": "error", "message": "too long", "code": 40303}, ["too long"]),
    "a gateway": ({"statusCode": 401, "message": "Access denied"}, ["Access denied"]),
    "a list of errors": ({"error": [{"msg": "a"}, {"msg": "b"}]}, ["a; b"]),
}


def test_a_body_that_is_not_a_response_is_kept_and_has_no_finish() -> None:
    body = {"detail": "Unauthorized"}
    chunks = ChatDecoder().read_body(body)
    assert chunks[-1] == DataChunk("data-openai-unknown", body)
    assert not any(isinstance(chunk, MessageFinish | ErrorChunk) for chunk in chunks)


@each_row(("failure", "texts"), ERRORS.values(), ids=ERRORS)
def test_an_error_has_its_message_in_streams_and_bodies(failure: Json, texts: list[str]) -> None:
    streamed, whole = metadata_of(decoded([failure])), metadata_of(ChatDecoder().read_body(failure))
    assert (streamed["errors"], streamed["finishReason"], streamed["complete"]) == (texts, "error", False)
    assert (whole["errors"], whole["finishReason"], whole.get("complete")) == (texts, "error", None)


def test_a_record_that_is_not_json_is_reported_and_the_stream_continues() -> None:
    chunks = decoded([record({"content": "a"}), "{broken", record({"content": "b"}, finish="stop"), "[DONE]"])
    metadata = metadata_of(chunks)
    assert (metadata["errors"], metadata["finishReason"]) == (["unparsable record: {broken"], "stop")
    assert parts_of(chunks) == [text("ab")]


def test_an_interrupted_call_stays_open() -> None:
    chunks = decoded([record({"tool_calls": [call_delta(0, '{"q":"te', id="a", name="find")]})])
    (cut,) = parts_of(chunks)
    assert (cut["state"], cut["rawInput"]) == ("input-streaming", '{"q":"te')


def test_a_complete_call_whose_input_is_not_json_is_an_error() -> None:
    chunks = decoded(
        [record({"tool_calls": [call_delta(0, '{"q":', id="a", name="find")]}, finish="tool_calls")]
    )
    (bad,) = parts_of(chunks)
    assert (bad["state"], bad["input"]) == ("output-error", '{"q":')


def test_only_the_first_choice_is_read_and_others_are_kept() -> None:
    other = {"index": 1, "delta": {"content": "B"}, "finish_reason": None}
    chunks = decoded([record({"content": "A"}), {"choices": [other]}, record(finish="stop")])
    assert parts_of(chunks) == [text("A")]
    assert metadata_of(chunks)["openai"]["other_choices"] == [other]


def test_other_members_are_kept_under_the_namespace() -> None:
    records: list[Json] = [
        {"choices": [], "model": "", "prompt_filter_results": [{"prompt_index": 0}], "id": ""},
        record({"content": "a"}, provider="P", choice={"token_ids": [1]}, obfuscation="xx", p="ab"),
        record({"content": "b"}, choice={"token_ids": [2]}, service_tier="", x={"a": 1}),
        record({}, finish="stop", choice={"native_finish_reason": "end"}, x={"b": 2}),
    ]
    metadata = metadata_of(decoded(records, "router"))
    assert (metadata["model"], metadata["responseId"]) == ("m", "answer-1")
    assert metadata["router"] == {
        "prompt_filter_results": [{"prompt_index": 0}],
        "provider": "P",
        "token_ids": [1, 2],
        "x": {"a": 1, "b": 2},
        "native_finish_reason": "end",
    }


def test_content_after_the_finish_reason_is_read() -> None:
    chunks = decoded([record({"content": "a"}, finish="stop"), record({"content": "b"})])
    assert parts_of(chunks) == [text("ab")]
    assert [type_of(chunk) for chunk in chunks].count("finish") == 1


def test_a_complete_message_in_a_stream_is_read() -> None:
    assert parts_of(decoded([body({"content": "Hi"})])) == [text("Hi")]


def test_a_delta_takes_precedence_over_a_repeated_message() -> None:
    repeated = {"message": {"role": "assistant", "content": "Hel"}}
    records = [record({"content": "Hel"}, choice=repeated), record({"content": "lo"}, finish="stop")]
    assert parts_of(decoded([*records])) == [text("Hello")]


def test_calls_of_a_body_may_have_no_index_and_id() -> None:
    calls = [call_delta(None, "{}", id="", name="one"), call_delta(None, "{}", id="", name="two")]
    assert parts_of(ChatDecoder().read_body(body({"content": None, "tool_calls": calls}))) == [
        call("answer-1-0", "one", {}, id=""),
        call("answer-1-1", "two", {}, id=""),
    ]


def test_empty_members_are_ignored() -> None:
    unused: JsonObject = {
        "content": "Hi",
        "refusal": "",
        "function_call": {"name": "", "arguments": ""},
        "tool_calls": [],
        "audio": {"id": "", "data": "", "expires_at": 0, "transcript": ""},
        "annotations": None,
    }
    chunks = ChatDecoder().read_body(body(unused, finish=""))
    assert parts_of(chunks) == [text("Hi")]
    assert metadata_of(chunks)["finishReason"] == "other"
