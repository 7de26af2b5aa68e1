"""Messages to store: about 2 KB each like those of agents, or short ones for large stores."""

from random import Random

from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart

# fmt: off
WORDS = (
    "anchor", "basket", "copper", "drawer", "ember", "fabric", "garden", "harbour", "island", "jacket",
    "kettle", "lantern", "meadow", "needle", "orchard", "pebble", "quarry", "ribbon", "saddle", "timber",
    "umbrella", "velvet", "willow", "yonder", "zephyr", "measure", "signal", "granite", "thunder",
)
# fmt: on


def words(random: Random, length: int) -> str:
    """A text of about that many characters, with some rare words."""
    found: list[str] = []
    size = 0
    while size < length:
        word = random.choice(WORDS)
        if random.random() < 0.15:
            word += str(random.randrange(20_000))
        found.append(word)
        size += len(word) + 1
    return " ".join(found)


def two_kilobytes(number: int) -> Message:
    """Reasoning, a call with its output, and text."""
    random = Random(number)
    call = ToolCallPart(
        id=f"call-{number}",
        name=random.choice(("read", "bash", "edit", "search")),
        state="output-available",
        input={"path": words(random, 60)},
        output=TextOutput(words(random, 700)),
    )
    parts = (ReasoningPart(text=words(random, 400)), call, TextPart(text=words(random, 600)))
    return AssistantMessage(id=f"m{number}", content=parts)


def short(number: int) -> Message:
    """A sentence. One in a thousand contains the word needle."""
    random = Random(number)
    rare = " haystackneedle" if number % 1000 == 7 else ""
    return UserMessage(id=f"m{number}", content=words(random, 120) + rare)
