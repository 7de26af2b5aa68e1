"""The audit of a store: structures in JSON strings are counted, and parsed where that is certain."""

from typing import Any

from partita.store.data_migrations.runner import migrate
from partita.store.doctor.contents import audit
from partita.store.doctor.doctor import check_store
from partita.store.doctor.report import AuditEntry
from partita.store.store import Store
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from tests.store.emptying import in_empty_store
from tests.store.old_rows import network, set_content
from tests.tables import each_row

VALUE: JsonObject = {"a": [1, "é"], "b": None}
TEXT = '{"a":[1,"é"],"b":null}'
PARSED, NETWORKS = "stringified-values", "network-strings"


def call(input: Json = None, output: ToolOutput | None = None, **more: Any) -> ToolCallPart:
    given = {} if input is None else input
    return ToolCallPart(id="c", name="n", state="output-available", input=given, output=output, **more)


def response(*parts: Any, **content: Any) -> AssistantMessage:
    return AssistantMessage(id="m", content=AssistantContent(parts=parts, **content))


CHILD = AssistantMessage(id="child", content="Done.")

PARSES: dict[str, tuple[Message, str, str, Message]] = {
    "an input": (
        response(call('{ "a": [1, "é"], "b": null }')),
        "tool input",
        "$.content.parts[0].input",
        response(call(VALUE)),
    ),
    "an input encoded twice": (
        response(call(dumps(TEXT).decode())),
        "tool input",
        "$.content.parts[0].input",
        response(call(VALUE)),
    ),
    "an output": (
        response(call(output=TextOutput(TEXT))),
        "tool output",
        "$.content.parts[0].output.value",
        response(call(output=JsonOutput(VALUE))),
    ),
    "an output serialized by Python": (
        response(call(output=TextOutput('{"a": [1, "\\u00e9"], "b": null}'))),
        "tool output",
        "$.content.parts[0].output.value",
        response(call(output=JsonOutput(VALUE))),
    ),
    "an output that is JSON in JSON": (
        response(call(output=JsonOutput(TEXT))),
        "tool output",
        "$.content.parts[0].output.value",
        response(call(output=JsonOutput(VALUE))),
    ),
    "an error": (
        response(call(output=ErrorTextOutput(TEXT))),
        "tool output",
        "$.content.parts[0].output.value",
        response(call(output=ErrorJsonOutput(VALUE))),
    ),
    "a separate result": (
        ToolMessage(id="m", content=[ToolResultPart(id="c", name="n", output=TextOutput(TEXT))]),
        "tool output",
        "$.content.parts[0].output.value",
        ToolMessage(id="m", content=[ToolResultPart(id="c", name="n", output=JsonOutput(VALUE))]),
    ),
    "data": (
        response(DataPart(name="d", data=TEXT)),
        "data",
        "$.content.parts[0].data",
        response(DataPart(name="d", data=VALUE)),
    ),
    "metadata": (response(metadata=TEXT), "metadata", "$.content.metadata", response(metadata=VALUE)),
    "a part": (
        response(TextPart('{"type":"reasoning","text":"Hm."}'), TextPart("Yes.")),
        "part",
        "$.content.parts[0].text",
        response(ReasoningPart(text="Hm."), TextPart("Yes.")),
    ),
    "several parts": (
        response(TextPart('[{"type":"text","text":"One."},{"type":"text","text":"Two."}]')),
        "part",
        "$.content.parts[0].text",
        response(TextPart("One."), TextPart("Two.")),
    ),
    "an output of a sub-agent": (
        response(call(children=(response(call(output=TextOutput(TEXT))),))),
        "tool output",
        "$.content.parts[0].children[0].content.parts[0].output.value",
        response(call(children=(response(call(output=JsonOutput(VALUE))),))),
    ),
}


async def audited(store: Store) -> list[AuditEntry]:
    return list(await audit(store))


@each_row(("message", "kind", "path", "parsed"), PARSES.values(), ids=PARSES)
@in_empty_store
async def test_certain_structures_are_parsed(
    store: Store, message: Message, kind: str, path: str, parsed: Message
) -> None:
    await store.threads.create("t")
    await store.messages.save([message], thread_id="t")
    (entry,) = await audited(store)
    assert (entry.kind, entry.condition, entry.count, entry.messages) == (kind, "whole", 1, 1)
    assert entry.migration == PARSED
    assert [(one.thread_id, one.message_id, one.path) for one in entry.samples] == [("t", "m", path)]
    assert entry.is_problem
    (report,) = await migrate(store, [PARSED])
    assert (report.changed, report.failed, report.wrong, report.lost) == (1, 0, 0, 0)
    found = await store.messages.get("t", "m")
    assert found is not None
    assert (found.content, found.type) == (parsed.content, parsed.type)
    assert await audited(store) == []


UNPARSED: dict[str, tuple[Message, str, str]] = {
    "an indented output": (
        response(call(output=TextOutput('{\n  "a": 1\n}'))),
        "tool output",
        "whole",
    ),
    "a truncated output": (response(call(output=TextOutput(TEXT[:-4]))), "tool output", "cut off"),
    "a truncated input": (response(call(TEXT[:-9])), "tool input", "cut off"),
    "a text of an output": (
        response(call(output=ContentOutput((TextPart(TEXT),)))),
        "tool output",
        "inside",
    ),
    "a text with other members": (
        response(TextPart('{"type":"text","text":"a"}', provider_metadata={"p": {"id": "x"}})),
        "part",
        "whole",
    ),
    "a file that a tool writes": (response(call({"content": TEXT})), "tool input", "inside"),
    "a member of data": (response(DataPart(name="d", data={"a": [TEXT]})), "data", "inside"),
    "a member of metadata": (response(metadata={"a": TEXT}), "metadata", "inside"),
    "provider metadata": (
        response(TextPart("a", provider_metadata={"p": {"signature": TEXT}})),
        "provider metadata",
        "inside",
    ),
}


@each_row(("message", "kind", "condition"), UNPARSED.values(), ids=UNPARSED)
@in_empty_store
async def test_uncertain_structures_are_reported_and_not_parsed(
    store: Store, message: Message, kind: str, condition: str
) -> None:
    await store.threads.create("t")
    (before,) = await store.messages.save([message], thread_id="t")
    (entry,) = await audited(store)
    assert (entry.kind, entry.condition, entry.migration) == (kind, condition, None)
    assert entry.advice.startswith("no migration")
    assert not entry.is_problem
    await migrate(store, [PARSED])
    assert await store.messages.get("t", "m") == before


NOT_JSON: dict[str, Message] = {
    "a response in JSON": response(TextPart(TEXT)),
    "a user message": UserMessage(id="m", content=network()),
    "a log line": response(call(output=TextOutput("[12:00:01] started"))),
    "a patch": response(call(TEXT, input_encoding="text")),
    "a number": response(call(output=TextOutput("42")), DataPart(name="d", data="true")),
    "a part of another kind": response(TextPart('{"type":"invoice","total":3}')),
}


@each_row("message", NOT_JSON.values(), ids=NOT_JSON)
@in_empty_store
async def test_texts_are_not_reported(store: Store, message: Message) -> None:
    await store.threads.create("t")
    await store.messages.save([message], thread_id="t")
    assert await audited(store) == []


async def test_a_store_with_network_strings_is_not_healthy(store: Store) -> None:
    await store.threads.create("t")
    whole = [AssistantMessage(id=f"n{number}", content=network(str(number))) for number in range(5)]
    inside = response(call(children=(AssistantMessage(id="in", content=network()),)))
    await store.messages.save([*whole, inside], thread_id="t")
    assert not (await check_store(store)).healthy  # without the audit, too
    entries = {(one.kind, one.condition, one.migration): one for one in await audited(store)}
    assert set(entries) == {("network", "whole", NETWORKS), ("network", "whole", PARSED)}
    of_texts = entries["network", "whole", NETWORKS]
    assert (of_texts.count, of_texts.messages, len(of_texts.samples)) == (5, 5, 3)
    await migrate(store)
    assert await audited(store) == []
    assert (await check_store(store, audit=True)).healthy
    found = await store.messages.get("t", "m")
    assert isinstance(found, AssistantMessage)
    (part,) = found.parts
    assert isinstance(part, ToolCallPart)
    (child,) = part.children
    assert isinstance(child, AssistantMessage)
    assert child.content.network_execution is not None


async def test_a_truncated_network_string_is_damage(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([AssistantMessage(id="m", content=network()[:-20])], thread_id="t")
    (entry,) = await audited(store)
    assert (entry.kind, entry.condition, entry.migration) == ("network", "cut off", None)
    await migrate(store)
    assert not (await check_store(store, audit=True)).healthy


async def test_a_whole_content_in_a_string_is_reported(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([response(TextPart("?"))], thread_id="t")
    content = dumps({"format": 2, "parts": [{"type": "text", "text": "hi"}]}).decode()
    await set_content(store, "m", dumps(content).decode(), "t")
    (entry,) = await audited(store)
    assert (entry.kind, entry.migration) == ("content", "plain-text")
    await migrate(store)
    assert await audited(store) == []
