"""Records of session files: tables of examples, and strategies."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject
from tests.logs.claude_session import Session, task, text, thinking, usage, use

PICTURE: JsonObject = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
}
EDITOR = "<ide_opened_file>bread.md</ide_opened_file>\n"


def session() -> Session:
    return Session().prompt("Bake bread")


def called(*blocks: JsonObject) -> Session:
    """A session with a call without a result yet."""
    return session().piece("m1", use("c1"), *blocks)


def answered(content: Json = "done", **fields: Json) -> Session:
    block: JsonObject = {"type": "tool_result", "tool_use_id": "c1", "content": content, **fields}
    return called().prompt([{name: value for name, value in block.items() if value != "absent"}])


def without(name: str, made: Session) -> Session:
    """The session without a member of its last record."""
    del made.records[-1][name]
    return made


def with_message(made: Session, **fields: Json) -> Session:
    """The session with changes to the message of its last record; members that are `...` are removed."""
    message = {**made.records[-1]["message"], **fields}
    made.records[-1]["message"] = {name: value for name, value in message.items() if value is not ...}
    return made


def two_calls() -> Session:
    return session().piece("m1", use("c1")).piece("m1", use("c2"))


def result(call: str, content: Json = "done") -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def again(made: Session, which: int) -> Session:
    made.records.append(deepcopy(made.records[which]))
    return made


PROMPTS: dict[str, Callable[[], Session]] = {
    "a string": session,
    "an empty string": lambda: Session().prompt(""),
    "blocks": lambda: Session().prompt([text("Bake"), text("bread")]),
    "no blocks": lambda: Session().prompt([]),
    "no content": lambda: with_message(session(), content=...),
    "a content that is null": lambda: Session().prompt(None),
    "a content that is an object": lambda: Session().prompt({"type": "text", "text": "x"}),
    "a content that is a number": lambda: Session().prompt(5),
    "a picture": lambda: Session().prompt([PICTURE, text("Such bread")]),
    "a picture with a URL": lambda: Session().prompt(
        [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}]
    ),
    "a picture of the provider": lambda: Session().prompt(
        [{"type": "image", "source": {"type": "file", "file_id": "f1"}, "cache_control": {"type": "x"}}]
    ),
    "a document": lambda: Session().prompt(
        [
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
                "title": "Bread",
                "context": "old",
            }
        ]
    ),
    "a document of text": lambda: Session().prompt(
        [
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "Kneadé"},
                "title": None,
            }
        ]
    ),
    "a document with a URL": lambda: Session().prompt(
        [{"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}]
    ),
    "a document of the provider": lambda: Session().prompt(
        [{"type": "document", "source": {"type": "file", "file_id": "f1"}, "title": "x"}]
    ),
    "a picture without a source": lambda: Session().prompt([{"type": "image"}]),
    "an unknown block": lambda: Session().prompt([{"type": "smell", "of": "bread"}, "x", 5, None]),
    "a text with more members": lambda: Session().prompt([text("x", cache_control={"type": "ephemeral"})]),
    "context of an editor before the text": lambda: Session().prompt([text(f"{EDITOR}Bake")]),
    "context of an editor in a separate block": lambda: Session().prompt([text(EDITOR), text("Bake")]),
    "context of an editor twice": lambda: Session().prompt([text(EDITOR + EDITOR + "Bake"), PICTURE]),
    "context of an editor in a string": lambda: Session().prompt(EDITOR + EDITOR + "Bake"),
    "context of an editor alone": lambda: Session().prompt(EDITOR),
    "a command": lambda: Session().prompt("<command-name>/oven</command-name><command-args>x</command-args>"),
    "a command in blocks": lambda: Session().prompt([text("<command-name>/oven</command-name>"), PICTURE]),
    "the output of a command": lambda: Session().prompt("<local-command-stdout>hot</local-command-stdout>"),
    "an interruption": lambda: Session().prompt([text("[Request interrupted by user]")]),
    "injected text": lambda: Session().prompt("Mind the oven", isMeta=True),
    "a summary": lambda: Session().prompt("We baked", isCompactSummary=True),
    "unknown fields": lambda: Session().prompt("x", temperature=220, message2={}),
    "no id": lambda: without("uuid", session()),
    "no id, twice": lambda: without("uuid", without("uuid", session()).prompt("x", parent=None)),
    "a time that cannot be read": lambda: Session().prompt("x", timestamp="noon"),
    "a message with more members": lambda: with_message(session(), name="baker"),
    "no message": lambda: without("message", session()),
}
ANSWERS: dict[str, Callable[[], Session]] = {
    "a line a block": lambda: session().answer(thinking="hm", text="Yes", calls=[use("c1"), use("c2")]),
    "several blocks in a line": lambda: session().piece("m1", thinking("hm"), text("Yes"), use("c1")),
    "several blocks in later lines": lambda: (
        session().piece("m1", text("a"), text("b")).piece("m1", text("c"), text("d")).piece("m1", text("e"))
    ),
    "a string": lambda: with_message(session().piece("m1"), content="Yes"),
    "a string in a later line": lambda: with_message(
        session().piece("m1", text("a")).piece("m1"), content="Yes"
    ),
    "no blocks": lambda: session().piece("m1").piece("m1").piece("m1", text("Yes")),
    "no content": lambda: with_message(session().piece("m1"), content=...),
    "no content in a later line": lambda: with_message(
        session().piece("m1", text("a")).piece("m1"), content=...
    ).piece("m1", text("b")),
    "a content that is null": lambda: with_message(session().piece("m1"), content=None),
    "a content that is an object": lambda: with_message(
        session().piece("m1", text("a")).piece("m1"), content={"a": 1}
    ),
    "unknown blocks": lambda: (
        session()
        .piece("m1", {"type": "smell"}, "x", None, text("a"))
        .piece("m1", {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}})
        .piece("m1", {"type": "smell"}, text("b"))
        .piece("m1", {"type": "text", "text": 5}, {"type": ["x"]}, {})
        .piece("m1", text("c"))
    ),
    "a picture": lambda: session().piece("m1", text("a")).piece("m1", PICTURE),
    "thinking that is not signed": lambda: session().piece("m1", {"type": "thinking", "thinking": "hm"}),
    "thinking that is not shown": lambda: session().piece("m1", thinking("")),
    "redacted thinking": lambda: session().piece("m1", {"type": "redacted_thinking", "data": "xyz"}),
    "a text with citations": lambda: session().piece(
        "m1", text("a", citations=[{"type": "page_location", "cited_text": "x", "document_index": 0}])
    ),
    "an empty text": lambda: session().piece("m1", text("")),
    "a call with a caller": lambda: session().piece("m1", use("c1", caller={"type": "direct"})),
    "a call without an input": lambda: session().piece(
        "m1", {"type": "tool_use", "id": "c1", "name": "Oven"}
    ),
    "a call whose input is not an object": lambda: session().piece("m1", use("c1", input="x")),
    "a call without a name": lambda: session().piece("m1", {"type": "tool_use", "id": "c1", "input": {}}),
    "a repeated call": lambda: (
        called().piece("m1", use("c1")).piece("m2", text("b"), use("c1"), use("c1")).piece("m2", use("c2"))
    ),
    "tools of the API": lambda: (
        session()
        .piece("m1", text("a"))
        .piece("m1", {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}})
        .piece("m1", {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}, text("b"))
        .piece("m1", text("c"))
    ),
    "tools of a server": lambda: session().piece(
        "m1",
        {"type": "mcp_tool_use", "id": "s1", "name": "bake", "server_name": "oven", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "s1", "is_error": False, "content": [text("hot")]},
    ),
    "usage that grows": lambda: (
        session().piece("m1", text("a"), usage=usage(1)).piece("m1", text("b"), usage=usage(9))
    ),
    "a reason to stop in the end": lambda: (
        session().piece("m1", text("a")).piece("m1", text("b"), message={"stop_reason": "end_turn"})
    ),
    "lines of another version": lambda: (
        session().piece("m1", text("a")).piece("m1", text("b"), version="3.0.0", cwd="/cellar", slug="x")
    ),
    "later lines with fewer fields": lambda: without(
        "gitBranch", without("version", session().piece("m1", text("a")).piece("m1", text("b")))
    ),
    "a first line with fewer fields": lambda: without("gitBranch", session().piece("m1", text("a"))).piece(
        "m1", text("b")
    ),
    "a later line without a message id": lambda: (
        session().piece("m1", text("a")).piece(None, text("b"), requestId=None)
    ),
    "no id": lambda: without("uuid", session().piece("m1", text("a"))),
    "one response under two requests": lambda: (
        session().piece("m1", text("a")).piece("m1", text("b"), requestId="r2").piece("m1", text("c"))
    ),
    "a synthetic text": lambda: (
        session()
        .piece("s1", text("I was"), model="<synthetic>", requestId=None)
        .piece("s2", text("No response requested."), model="<synthetic>", requestId=None)
    ),
    "a synthetic string": lambda: with_message(
        session().piece("s1", model="<synthetic>", requestId=None), content="I was"
    ),
    "an error of the API": lambda: session().piece(
        "s1",
        text("API Error: 529"),
        text("more"),
        model="<synthetic>",
        requestId=None,
        isApiErrorMessage=True,
        error="overloaded",
    ),
    "no message": lambda: without("message", session().piece("m1", text("a"))),
}
RESULTS: dict[str, Callable[[], Session]] = {
    "text": answered,
    "text, and no error": lambda: answered(is_error=False),
    "text, and null": lambda: answered(is_error=None),
    "no content": lambda: answered("absent"),
    "no content, and no error": lambda: answered("absent", is_error=False),
    "a content that is null": lambda: answered(None),
    "blocks": lambda: answered(
        [text("a"), PICTURE, text("b", cache_control={}), {"type": "tool_reference", "tool_name": "Oven"}]
    ),
    "no blocks": lambda: answered([]),
    "an object": lambda: answered({"stdout": "x"}),
    "an error": lambda: answered("burnt", is_error=True),
    "an error without text": lambda: answered("", is_error=True),
    "an error without content": lambda: answered("absent", is_error=True),
    "an error in blocks": lambda: answered([text("burnt")], is_error=True),
    "an error that is null": lambda: answered(None, is_error=True),
    "a refusal": lambda: answered("The user doesn't want to proceed with this tool use.", is_error=True),
    "a refusal with a reason": lambda: answered(
        "The user doesn't want to proceed with this tool use. To go on, the user said:\nno", is_error=True
    ),
    "a refusal in blocks": lambda: answered(
        [text("The user doesn't want to proceed with this tool use.")], is_error=True
    ),
    "a refusal that the record names": lambda: called().prompt([result("c1", "x")], toolDenialKind="rule"),
    "a refusal without text": lambda: called().prompt([result("c1", "")], toolDenialKind="rule"),
    "a refusal without content": lambda: called().prompt(
        [{"type": "tool_result", "tool_use_id": "c1"}], toolDenialKind="rule"
    ),
    "an interruption": lambda: answered("[Request interrupted by user for tool use]", is_error=True),
    "an interruption that the record names": lambda: called().prompt(
        [result("c1", [text("a"), text("b")])], toolDenialKind="cancelled"
    ),
    "unknown fields": lambda: answered(is_error=False, cache_control={"type": "x"}, warm=True),
    "a structured result": lambda: called().result("c1", toolUseResult={"stdout": "x", "interrupted": False}),
    "a structured result that is text": lambda: called().result("c1", toolUseResult="Error: burnt"),
    "a structured result that is null": lambda: called().result("c1", toolUseResult=None),
    "pages found": lambda: called().result(
        "c1",
        toolUseResult={
            "query": "x",
            "results": [{"content": [{"url": "https://example.com", "title": "x"}]}],
        },
    ),
    "another folder, another version": lambda: called().result("c1", cwd="/cellar", version="3", slug="x"),
    "less around it": lambda: without("gitBranch", called().result("c1")),
    "between the lines of its response": lambda: (
        called().result("c1").piece("m1", text("a")).piece("m1", use("c2")).result("c2")
    ),
    "several in one record": lambda: two_calls().prompt([result("c1"), result("c2")], toolUseResult="x"),
    "several in one record, the last first": lambda: two_calls().prompt([result("c2"), result("c1")]),
    "several of several responses": lambda: (
        called().piece("m2", use("c2")).prompt([result("c2"), result("c1"), result("c9")])
    ),
    "text after it": lambda: called().prompt([result("c1"), text("and now?"), PICTURE]),
    "text before and after it": lambda: two_calls().prompt(
        [text("a"), result("c2"), text(f"{EDITOR}b"), result("c1"), text("c")]
    ),
    "a command beside it": lambda: called().prompt([result("c1"), text("<command-name>/x</command-name>")]),
    "several, without an id": lambda: without("uuid", two_calls().prompt([result("c2"), result("c1")])),
    "before its call": lambda: session().result("c1").piece("m1", use("c1")),
    "twice before its call": lambda: session().result("c1", "a").result("c1", "b").piece("m1", use("c1")),
    "without a call": lambda: session().result("c9", toolUseResult={"a": 1}).prompt("x"),
    "of a call without an id": lambda: session().prompt([{"type": "tool_result", "content": "x"}] * 2),
    "a second one": lambda: called().result("c1", "a").result("c1", "b", toolUseResult={"b": 1}),
    "a call without a result": called,
    "a message with more members": lambda: with_message(called().result("c1"), name="x"),
}
OTHERS: dict[str, Callable[[], Session]] = {
    "records about the session": lambda: (
        session()
        .about("custom-title", customTitle="Bread")
        .about("file-history-snapshot", messageId="u-1", snapshot={"trackedFileBackups": {}})
        .answer(text="Yes")
        .about("last-prompt", lastPrompt="Bake", leafUuid="u-2")
    ),
    "unknown records": lambda: session().about("dream", of="bread").add("dream").about("user"),
    "a notice": lambda: session().system("compact_boundary", content="Compacted", compactMetadata={}),
    "a notice without text": lambda: session().system("api_error", error={"status": 529}),
    "a notice that is not shown": lambda: (
        session().system("turn_duration", durationMs=5).system(None, content="x")
    ),
    "an attachment": lambda: session().attachment("todo_reminder", content=[]).answer(text="x"),
    "a queued prompt": lambda: called().attachment("queued_command", prompt="And cake").result("c1"),
    "a queued prompt in blocks": lambda: session().attachment("queued_command", prompt=[text("a"), PICTURE]),
    "repeated lines": lambda: again(again(again(called().result("c1"), 0), 1), 2),
    "repeated notices": lambda: again(session().system("informational", content="x").attachment("x"), 1),
    "a sub-agent among the lines": lambda: _inline("Bake rolls"),
    "a sub-agent without a call": lambda: _inline("Clean the oven"),
    "a sub-agent with a name": lambda: _inline(agent="a1"),
    "a rewind": lambda: session().answer(text="Yes").prompt("Cake", parent="u-2").prompt("Pie", parent="u-2"),
    "no type": lambda: without("type", session().add("x")),
    "values of other types": lambda: (
        session()
        .add("user", message=[])
        .add("assistant", message="x")
        .add("system", content=5, subtype={})
        .add("attachment", attachment="x")
    ),
}


def _inline(prompt: str = "Bake rolls", agent: str | None = None) -> Session:
    """A conversation with the lines of a sub-agent before the result of its call."""
    made = session().piece("m1", task("t1", "Bake rolls"))
    side = Session(mark="s", agent=agent)
    side.sidechain = True
    side.prompt(prompt, parent=None).answer(text="Rolling", calls=[use("s1")]).result("s1").answer(
        text="Done"
    )
    made.records += side.records
    return made.result(
        "t1", "Rolls", parent="u-2", **({} if agent is None else {"toolUseResult": {"agentId": agent}})
    )


ALL: dict[str, Callable[[], Session]] = {
    f"{of}: {name}": make
    for of, cases in (("prompt", PROMPTS), ("answer", ANSWERS), ("result", RESULTS), ("other", OTHERS))
    for name, make in cases.items()
}


# Any records at all

IDS = ("u-1", "u-2", "u-3", "u-4")
CALLS = ("c1", "c2", "c3")
ODD: tuple[Json, ...] = (None, True, 5, "x", "", [], [5], {}, {"a": 1})


def members(**known: st.SearchStrategy[Json]) -> st.SearchStrategy[JsonObject]:
    """Objects with optional members, seldom of another type."""
    either = {name: st.one_of([own] * 9 + [st.sampled_from(ODD)]) for name, own in known.items()}
    return st.fixed_dictionaries({}, optional=either)


def _kind(
    kind: str, around: st.SearchStrategy[JsonObject], **own: st.SearchStrategy[Json]
) -> st.SearchStrategy[Json]:
    return st.tuples(around, members(**own)).map(lambda pair: {"type": kind, **pair[0], **pair[1]})


@cache
def contents() -> st.SearchStrategy[Json]:
    words = st.sampled_from(
        ("Bake", "", f"{EDITOR}Bake", "<command-name>/x</command-name>", "[Request interrupted")
    )
    call = st.sampled_from(CALLS)
    blocks = st.one_of(
        members(type=st.just("text"), text=words, citations=st.just([])),
        members(type=st.just("thinking"), thinking=words, signature=words),
        members(
            type=st.just("tool_use"),
            id=call,
            name=st.sampled_from(("Oven", "Task")),
            input=st.just({"prompt": "Bake"}),
        ),
        members(
            type=st.just("tool_result"),
            tool_use_id=call,
            content=words | st.lists(st.just(text("x")), max_size=2),
            is_error=st.booleans(),
        ),
        members(type=st.just("server_tool_use"), id=call, name=words, input=st.just({})),
        members(type=st.just("web_search_tool_result"), tool_use_id=call, content=st.just([])),
        st.sampled_from((PICTURE, {"type": "image", "source": {}}, {"type": "fallback"})),
        st.sampled_from(ODD),
    )
    return words | st.lists(blocks, max_size=3) | st.sampled_from(ODD)


@cache
def any_records() -> st.SearchStrategy[Json]:
    """Records of any kind, some of them unusual, with few different ids."""
    ids = st.sampled_from(IDS)
    around = members(
        uuid=ids,
        parentUuid=ids | st.none(),
        timestamp=st.sampled_from(("2026-04-01T08:00:00.000Z", "noon")),
        sessionId=st.just("s"),
        version=st.sampled_from(("1", "2")),
        isSidechain=st.booleans(),
        agentId=st.sampled_from(("a1", "a2")),
    )
    response = members(
        role=st.just("assistant"),
        id=st.sampled_from(("m1", "m2")),
        model=st.sampled_from(("baker", "<synthetic>")),
        content=contents(),
        usage=st.sampled_from((usage(1), usage(2))),
        stop_reason=st.sampled_from((None, "end_turn")),
    )
    prompt = members(role=st.just("user"), content=contents())
    responses = _kind(
        "assistant",
        around,
        message=response,
        requestId=st.sampled_from(("r1", "r2")),
        isApiErrorMessage=st.booleans(),
    )
    users = _kind(
        "user",
        around,
        message=prompt,
        toolUseResult=st.sampled_from(({"agentId": "a1"}, "Error")),
        isMeta=st.booleans(),
        toolDenialKind=st.sampled_from(("rule", "interrupted")),
    )
    notices = st.sampled_from(("informational", "turn_duration"))
    queued = members(type=st.just("queued_command"), prompt=contents())
    return st.one_of(
        *[responses] * 3,
        *[users] * 3,
        _kind("system", around, subtype=notices, content=st.just("x")),
        _kind("attachment", around, attachment=queued),
        _kind("summary", around, summary=st.just("x"), leafUuid=ids),
        _kind("dream", around),
        st.sampled_from(ODD),
    )
