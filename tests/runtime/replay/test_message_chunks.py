"""The chunks of a stored message fold to the same message, except for fields that chunks do not have."""

from partita.runtime.replay.message_chunks import chunks_of_message
from partita.runtime.replay.playback import play
from partita.runtime.replay.stepper import Stepper
from partita.runtime.run_fold import fold_run
from partita.store.connection import open_store
from partita.types.codec import encode
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    Approval,
    CustomPart,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from tests.tables import each_row

CHILD = AssistantMessage(id="child", content=[TextPart("below", state="done")])
MESSAGE = AssistantMessage(
    id="m",
    content=AssistantContent(
        metadata={"model": "sonata-2"},
        parts=(
            StepStartPart(),
            ReasoningPart("I think so.", id="r", state="done", provider_metadata={"p": {"signature": "x"}}),
            TextPart("A few words,\n\nand a line.  ", state="done"),
            ToolCallPart(
                id="c1",
                name="f",
                state="output-available",
                input={"a": 1},
                output=TextOutput("ok"),
                children=(CHILD,),
            ),
            ToolCallPart(
                id="c2", name="g", state="output-error", input=[], output=ErrorTextOutput("no"), dynamic=True
            ),
            ToolCallPart(
                id="c3",
                name="h",
                state="output-denied",
                input={},
                output=ExecutionDeniedOutput("rather not"),
                approval=Approval(id="a", approved=False, reason="rather not"),
            ),
            FilePart("data:,x", "text/plain"),
            SourceUrlPart("s", "https://example.org", "a page"),
            SourceDocumentPart("d", "application/pdf", "a paper"),
            DataPart("chart", {"x": [1]}, "d1"),
            CustomPart("p.thing"),
        ),
    ),
)


def test_the_chunks_of_a_message_fold_to_the_same_message() -> None:
    (folded,) = fold_run(chunks_of_message(MESSAGE), "m")
    assert encode(folded.content) == encode(MESSAGE.content)


@each_row("after", [0, 5])
async def test_an_imported_run_is_played_from_its_messages(after: int) -> None:
    async with open_store("memory:") as store:
        await store.threads.create("t")
        run = await store.runs.open("t", metadata={"log": {"path": "a.jsonl", "format": "claude-code-log"}})
        await store.runs.finish(run.id)
        mine = AssistantMessage(id="m", content=MESSAGE.content, run_id=run.id)
        await store.messages.save([UserMessage(id="u", content="do it"), mine], thread_id="t")
        played = [seen async for seen in play(store, run.id, speed=None, after=after)]
        stepper = await Stepper.open(store, run.id)
        (ended,) = stepper.finish()
    assert played[0].seq == after + 1
    assert played[-1].seq == len(stepper)
    assert encode(ended.content) == encode(MESSAGE.content)
