"""Sub-agents: what they were asked, and what they answered; what they did is drawn below, or counted."""

from rich.console import RenderableType
from rich.text import Text

from partita.types.messages import Message, text_of

from .bodies import Prose
from .calls import Call
from .card import Card
from .results import errors, value_rows
from .rows import Beside, Row, Rows
from .tally import Tally
from .text import counted, one_line

PROMPT_ROWS = 3
ANSWER_ROWS = 6


def draw_agent(call: Call) -> Card:
    """Which agent was sent with what, and what it came back with."""
    kind = call.word("subagent_type", "agent_type", "agent", "agent_name", "role")
    aim = call.word("description", "title", "task_name")
    prompt = call.word("prompt", "message", "task", "instructions", "input")
    title = Text().append("agent", "bold")
    if kind:
        title.append(f" {one_line(kind, 60)}", "bold cyan")
    if aim:
        title.append(f"  {one_line(aim)}")
    # When all is shown, the prompt is the first of the sub-agent's own messages.
    asked = [] if call.look.full and call.part.children else [Prose(prompt, call.look, PROMPT_ROWS, "dim")]
    said = Beside("→ ", Prose(call.given.text, call.look, ANSWER_ROWS), "bold", once=True)
    answer: list[RenderableType] = [said] if call.given.text and not _said_already(call) else []
    return Card(title, errors(call) or answer or [Rows(value_rows(call))], input=asked if prompt else [])


def _said_already(call: Call) -> bool:
    """Whether the answer stands right above, as the last words of the sub-agent itself."""
    children = call.part.children
    return call.look.full and bool(children) and text_of(children[-1]).strip() == call.given.text.strip()


def summary(messages: tuple[Message, ...]) -> Row:
    """A sub-agent's work in one line."""
    tally = Tally(messages)
    words = [
        counted(tally.messages, "message"),
        counted(tally.calls, "call") + (f" ({troubles})" if (troubles := tally.troubles()) else ""),
        *([counted(tally.agents, "sub-agent") + " of its own"] if tally.agents else []),
    ]
    return Row(f"{', '.join(words)}; --full shows them", "dim", "⤷ ")
