"""The searchable text of messages."""

from partita.store.search.fields import MAX_FIELD, SearchFields, fields_of
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
    UserMessage,
)
from partita.types.parts import (
    Approval,
    Citation,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
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
    ToolResultPart,
    UrlCitationSource,
)
from tests.tables import each_row

PICTURE = "data:image/png;base64,iVBORw0KGgo="
BLOB = f"blob:sha256:{'a' * 64}"


def message_of(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(id="m", content=parts)


def with_call(output: ToolOutput | None = None, **fields: object) -> AssistantMessage:
    call = {"id": "c", "name": "look", "state": "output-available", "output": output, **fields}
    return message_of(ToolCallPart(**call))  # type: ignore[arg-type] # fields of the call by name


def network() -> AssistantMessage:
    inner = UserMessage(id="u", content="inner words")
    call = ToolCallPart(id="c", name="route", state="input-available", input={"to": "north"})
    result = NetworkResult(text="final words", tool_calls=(call,), messages=(inner,), value={"sum": 3})
    execution = NetworkExecution(
        primitive_type="agent",
        primitive_id="guide",
        selection_reason="knows",
        input="where",
        final_result=result,
    )
    content = AssistantContent(parts=(TextPart(text="outer"),), network_execution=execution)
    return AssistantMessage(id="m", content=content)


def nested(depth: int) -> AssistantMessage:
    message = message_of(TextPart(text="deepest"))
    for _ in range(depth):
        message = with_call(children=(message,))
    return message


FIELDS: dict[str, tuple[Message, tuple[str, str, str, str]]] = {
    "a system's text": (SystemMessage(id="m", content="be kind"), ("be kind", "", "", "")),
    "texts": (
        message_of(TextPart(text="one"), StepStartPart(), TextPart(text="two")),
        ("one\ntwo", "", "", ""),
    ),
    "reasoning": (message_of(ReasoningPart(text="hm"), TextPart(text="yes")), ("yes", "hm", "", "")),
    "a convenience string without text": (
        AssistantMessage(id="m", content=AssistantContent(parts=(), content="spoken")),
        ("spoken", "", "", ""),
    ),
    "names of files": (
        message_of(
            FilePart(url=PICTURE, media_type="image/png", filename="tower.png"),
            ReasoningFilePart(url=BLOB, media_type="text/plain", filename="draft.txt"),
            ImagePart(url="https://x.org/a.png", name="bridge"),
            FilePart(url=PICTURE, media_type="image/png"),
        ),
        ("tower.png\ndraft.txt\nbridge", "", "", ""),
    ),
    "titles of sources": (
        message_of(
            SourceUrlPart(source_id="1", url="https://x.org", title="Owls"),
            SourceDocumentPart(source_id="2", media_type="text/plain", title="Hens", filename="hens.txt"),
            TextPart(
                text="so", citations=(Citation(source=UrlCitationSource(id="3", url="u", title="Jays")),)
            ),
        ),
        ("Owls\nHens\nhens.txt\nso\nJays", "", "", ""),
    ),
    "steering": (
        message_of(SteeringMessagePart(id="s", parts=(TextPart(text="stop"),))),
        ("stop", "", "", ""),
    ),
    "data parts": (message_of(DataPart(name="weather", data={"rain": True})), ("", "", "", "")),
    "a call": (
        with_call(
            input={"path": "a/b.py", "lines": [1, 2.5, None, True], "more": {"deep": "end"}}, title="Looking"
        ),
        ("", "", "look\nLooking\npath\na/b.py\nlines\n1\n2.5\ntrue\nmore\ndeep\nend", ""),
    ),
    "an incomplete call": (with_call(raw_input='{"pa'), ("", "", 'look\n{"pa', "")),
    "a reason given": (
        with_call(approval=Approval(id="a", reason="too risky")),
        ("", "", "look", "too risky"),
    ),
    "text output": (with_call(TextOutput(value="seen")), ("", "", "look", "seen")),
    "JSON output": (with_call(JsonOutput(value={"say": 'a "b"\n'})), ("", "", "look", 'say\na "b"\n')),
    "error output": (with_call(ErrorTextOutput(value="boom")), ("", "", "look", "boom")),
    "JSON error output": (with_call(ErrorJsonOutput(value=["boom", 7])), ("", "", "look", "boom\n7")),
    "denied output": (with_call(ExecutionDeniedOutput(reason="no")), ("", "", "look", "no")),
    "interrupted output": (
        with_call(InterruptedOutput(reason="timeout", message="too slow")),
        ("", "", "look", "too slow"),
    ),
    "content output": (
        with_call(
            ContentOutput(
                value=(
                    TextPart(text="words"),
                    ImagePart(url=PICTURE, name="map"),
                    FilePart(url=BLOB, media_type="text/plain", filename="list.txt"),
                )
            )
        ),
        ("", "", "look", "words\nmap\nlist.txt"),
    ),
    "a separate result": (
        ToolMessage(id="m", content=[ToolResultPart(id="c", name="look", output=TextOutput(value="seen"))]),
        ("", "", "look", "seen"),
    ),
    "a sub-agent": (
        with_call(
            TextOutput(value="done"),
            children=(
                UserMessage(id="1", content="go"),
                message_of(ReasoningPart(text="hm"), TextPart(text="ok")),
            ),
        ),
        ("go\nok", "hm", "look", "done"),
    ),
    "a network": (
        network(),
        ("outer\nfinal words\ninner words", "knows", "guide\nwhere\nroute\nto\nnorth", "sum\n3"),
    ),
    "a data URL alone": (
        with_call(JsonOutput(value={"image": PICTURE, "of": "owl"})),
        ("", "", "look", "image\n \nof\nowl"),
    ),
    "a data URL in text": (
        message_of(TextPart(text=f"see ![it]({PICTURE}) here")),
        ("see ![it]( ) here", "", "", ""),
    ),
    "a reference alone": (with_call(TextOutput(value=f"{BLOB}#text")), ("", "", "look", "")),
    "a reference in text": (message_of(TextPart(text=f"see {BLOB} here")), ("see   here", "", "", "")),
    "no data URL": (message_of(TextPart(text="data: 1, blob: 2")), ("data: 1, blob: 2", "", "", "")),
    "an event stream": (with_call(TextOutput(value="data: {} x")), ("", "", "look", "data: {} x")),
    "base64": (
        with_call(JsonOutput(value={"bytes": "iVBORw0K" * 200, "of": 1})),
        ("", "", "look", "bytes\nof\n1"),
    ),
}


@each_row(("message", "expected"), FIELDS.values(), ids=FIELDS)
def test_the_searchable_text_of_a_message(message: Message, expected: tuple[str, str, str, str]) -> None:
    assert fields_of(message) == SearchFields(*expected)


def test_sub_agents_may_nest_deeply() -> None:
    assert fields_of(nested(5000)).text == "deepest"


def test_fields_are_truncated() -> None:
    long = "word " * MAX_FIELD
    message = message_of(
        TextPart(text=long),
        ReasoningPart(text=long),
        ToolCallPart(
            id="c",
            name="n",
            state="output-available",
            input=[long, "late"],
            output=JsonOutput(value=[1] * MAX_FIELD),
        ),
    )
    assert [len(field) for field in fields_of(message)] == [MAX_FIELD] * 4


def test_a_large_data_url_does_not_use_the_limit() -> None:
    url = f"data:image/png;base64,{'A' * MAX_FIELD}"
    assert fields_of(message_of(TextPart(text=f"{url} after"))).text == "after"
    assert fields_of(with_call(JsonOutput(value=[url, "after"]))).tool_output == "after"
