"""Steps of the model of which nothing can be written."""

from partita.formats.registry import get_format
from partita.types.messages import AssistantMessage, AssistantPart
from partita.types.parts import DataPart, StepStartPart, TextPart
from tests.tables import each_row


@each_row("name", ["otel-genai", "langchain", "langchain-v0", "pydantic-ai"])
def test_a_step_without_written_parts_is_not_written(name: str) -> None:
    shown = DataPart("lamp", {"lit": True})
    parts: list[AssistantPart] = [StepStartPart(), shown, StepStartPart(), TextPart("The lamp is lit.")]
    dump = get_format(name).dump
    assert dump is not None
    silent = dump([AssistantMessage(id="a", content=parts)])
    spoken = dump([AssistantMessage(id="a", content=parts[3:])])
    assert silent.payload == spoken.payload
    assert "$[0].content.parts[1]" in {loss.path for loss in silent.losses}
