"""Steps of which nothing can be written do not become empty messages."""

from partita.formats.registry import get_format
from partita.types.messages import AssistantMessage, AssistantPart
from partita.types.parts import DataPart, StepStartPart, TextPart
from tests.tables import each_row


@each_row("name", ["langchain", "langchain-v0", "otel-genai", "pydantic-ai", "anthropic"])
def test_a_step_without_written_parts_leaves_nothing_empty(name: str) -> None:
    shown = DataPart("lamp", {"lit": True})
    parts: list[AssistantPart] = [StepStartPart(), shown, StepStartPart(), TextPart("The lamp is lit.")]
    dump = get_format(name).dump
    assert dump is not None
    with_data = dump([AssistantMessage(id="a", content=parts)])
    without = dump([AssistantMessage(id="a", content=parts[3:])])
    assert with_data.payload == without.payload
    assert "$[0].content.parts[1]" in {loss.path for loss in with_data.losses}
