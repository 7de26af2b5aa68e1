"""Any sessions of OpenCode are read, with the same result at once and step by step."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.types.codec import decode_message, encode
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message
from tests.formats.opencode_counts import read
from tests.strategies_json import json_values, texts

IDS = ("msg_0", "msg_1", "msg_2", "msg_3")
KINDS = (
    *("text", "reasoning", "file", "tool", "tool", "tool", "step-start", "step-finish", "patch", "snapshot"),
    *("retry", "compaction", "subtask", "agent", "odd"),
)
FIELDS = (
    *(
        "id",
        "role",
        "info",
        "parts",
        "messages",
        "type",
        "text",
        "state",
        "status",
        "tool",
        "callID",
        "metadata",
    ),
    *("time", "created", "completed", "tokens", "cost", "cache", "error", "finish", "revert", "_role", "url"),
    *("messageID", "directory", "title", "other"),
)


@st.composite
def states(draw: st.DrawFn) -> JsonObject:
    status = draw(st.sampled_from(("pending", "running", "completed", "error", "odd")))
    state: JsonObject = {"status": status, "input": {"path": draw(texts())}}
    if status == "completed":
        exit_code = draw(st.sampled_from((0, 1, None)))
        state |= {"output": draw(texts()), "metadata": {"exit": exit_code}, "title": "A title"}
    if status == "error":
        state["error"] = draw(texts() | st.just("Tool execution aborted"))
    if draw(st.booleans()):
        state["time"] = {"start": draw(st.integers(0, 9)), "end": 9}
    return state


@st.composite
def parts(draw: st.DrawFn, id: str) -> JsonObject:
    kind = draw(st.sampled_from(KINDS))
    part: JsonObject = {"type": kind, "id": id}
    match kind:
        case "text" | "reasoning":
            return {
                **part,
                "text": draw(texts()),
                "time": draw(st.sampled_from(({"start": 1, "end": 2}, None))),
            }
        case "file":
            return {**part, "mime": draw(st.sampled_from(("image/png", "text/x"))), "url": "data:,x"}
        case "tool":
            return {**part, "tool": "bash", "callID": f"call-{id}", "state": draw(states())}
        case "step-finish":
            return {**part, "cost": 1, "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {}}}
        case _:
            return {**part, "hash": draw(texts())}


@st.composite
def messages(draw: st.DrawFn, id: str, roles: tuple[str, ...] = ("user", "assistant")) -> JsonObject:
    info: JsonObject = {
        "id": id,
        "role": draw(st.sampled_from(roles)),
        "time": {"created": draw(st.integers(0, 99))},
    }
    if info["role"] == "assistant":
        info |= {"modelID": "acme-1", "providerID": "acme", "cost": draw(st.sampled_from((0, 0.5)))}
        if draw(st.booleans()):
            info["finish"] = draw(st.sampled_from(("stop", "tool-calls")))
        if draw(st.integers(0, 9)) == 0:
            info["error"] = {"name": draw(st.sampled_from(("MessageAbortedError", "APIError")))}
    count = draw(st.integers(0, 4))
    return {"info": info, "parts": [draw(parts(f"{id}-{number}")) for number in range(count)]}


def any_message() -> st.SearchStrategy[JsonObject]:
    return st.sampled_from(IDS).flatmap(messages)


def sessions() -> st.SearchStrategy[JsonObject]:
    reverts = st.sampled_from((None, {"messageID": "msg_1"}, {"messageID": "msg_2", "partID": "p"}))
    return st.fixed_dictionaries({"id": st.just("ses_1"), "title": texts(), "revert": reverts})


def rows() -> st.SearchStrategy[JsonObject]:
    return st.tuples(parts("p"), st.sampled_from(("user", "assistant"))).map(
        lambda drawn: {key: value for key, value in drawn[0].items() if key != "id"} | {"_role": drawn[1]}
    )


def random_records() -> st.SearchStrategy[JsonObject]:
    """Objects with the right names in the wrong places."""
    values = (
        json_values(3) | st.sampled_from((*IDS, *KINDS, "user", "assistant")) | any_message() | sessions()
    )
    return st.dictionaries(st.sampled_from(FIELDS), values | st.lists(values, max_size=2), max_size=5)


def records() -> st.SearchStrategy[JsonObject]:
    return st.one_of(any_message(), any_message(), any_message(), sessions(), rows(), random_records())


@given(st.lists(records(), max_size=8))
def test_any_objects_give_messages_that_can_be_written_and_read(session: list[JsonObject]) -> None:
    messages_by_id, _ = read(session)
    for message in messages_by_id.values():
        assert decode_message(encode(message)) == message
        assert message.parent_id == "" or message.parent_id in messages_by_id


@given(st.lists(records(), max_size=10), st.sets(st.integers(0, 9)))
def test_the_result_does_not_depend_on_when_messages_are_taken(
    session: list[JsonObject], looks: set[int]
) -> None:
    assert settled(read(session, looks)[0]) == settled(read(session)[0])


def settled(messages_by_id: dict[str, Message]) -> dict[str, Message]:
    """Messages without runs: one from before the first run may be repeated in a later one and get it."""
    return {id_: replace(message, run_id=None) for id_, message in messages_by_id.items()}


@given(st.lists(records(), max_size=10), st.integers(0, 10))
def test_a_longer_session_keeps_the_ids_of_a_shorter_one(session: list[JsonObject], length: int) -> None:
    longer, shorter = read(session)[0], read(session[:length])[0]
    assert shorter.keys() <= longer.keys()
    for id_, message in shorter.items():
        assert longer[id_].parent_id == message.parent_id
        assert None in (message.run_id, longer[id_].run_id) or message.run_id == longer[id_].run_id


@st.composite
def growth(draw: st.DrawFn, id: str) -> list[JsonObject]:
    """The versions of a growing response: parts are added, calls and texts continue."""
    whole: JsonObject = draw(messages(id, ("assistant",)))
    versions: list[JsonObject] = []
    for count in range(len(whole["parts"]) + 1):
        versions.append({**whole, "parts": [*whole["parts"][:count]]})
        if count < len(whole["parts"]) and (younger := _younger(draw, whole["parts"][count])):
            versions.append({**whole, "parts": [*whole["parts"][:count], younger]})
    return versions


def _younger(draw: st.DrawFn, part: JsonObject) -> JsonObject | None:
    if part["type"] == "tool":
        return {**part, "state": {**draw(states()), "input": part["state"]["input"]}}
    if part["type"] in ("text", "reasoning"):
        length = draw(st.integers(0, len(part["text"])))
        return {**part, "text": part["text"][:length], "time": {"start": 1}}
    return None


@given(st.tuples(*map(growth, IDS[:2])), st.sets(st.integers(0, 20)))
def test_the_last_version_of_a_response_is_used(grown: tuple[list[JsonObject], ...], looks: set[int]) -> None:
    """A response that grew has the same content as one that was written at once."""
    live, _ = read([version for versions in grown for version in versions], looks)
    whole, _ = read([versions[-1] for versions in grown])
    assert live.keys() == whole.keys()
    for id_, message in whole.items():
        assert live[id_].content == message.content


@given(st.tuples(*(messages(id_) for id_ in IDS)))
def test_without_some_of_the_records_the_rest_is_the_same(session: tuple[JsonObject, ...]) -> None:
    whole, _ = read(session)
    for number, record in enumerate(session):
        rest = [*session[:number], *session[number + 1 :]]
        garbled = [*session[:number], {"parts": record["parts"]}, *session[number + 1 :]]
        for others in (rest, garbled, [*rest, record], [one for one in session for _ in range(2)]):
            messages_by_id, _ = read(others)
            for id_ in messages_by_id.keys() & whole.keys():
                assert messages_by_id[id_].content == whole[id_].content


@given(st.lists(messages("msg_0", ("assistant",)), min_size=1, max_size=3))
def test_the_usage_of_a_repeated_message_is_counted_once(versions: list[JsonObject]) -> None:
    messages_by_id, builder = read(versions)
    message = messages_by_id["msg_0"]
    assert isinstance(message, AssistantMessage)
    keys = [consumption.key for consumption in builder.take_ledger()]
    assert len(keys) == len(set(keys)) <= len(versions)
