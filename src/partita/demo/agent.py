"""The demo agent: scripted responses without an API key, network access or randomness.

A word in the prompt selects the response:

- `weather`: reasoning, a tool call, and a text;
- `approve`: a tool call that waits for approval;
- `client`: a tool call that the client runs;
- `team`: a sub-agent that starts another sub-agent;
- `edit`: a coding turn with a to-do list, a failing test, an edit and a passing test;
- `markdown`: a table, code, a formula and a diagram;
- `long`: a long text;
- `flood`: two hundred words per second for five seconds;
- `think`: long reasoning, and a source;
- `fail`: a run that fails;
- any other prompt: a list of these words.
"""

from typing import Final

from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService, as_script
from partita.types.json import JsonObject

from .scenes import FLOOD, MARKDOWN, PAUSE, STORY, call, reasoning, scene, step, text
from .team import DelegatingModel
from .tools import TOOLS, read_log

NAME: Final = "demo"
DESCRIPTION: Final = "Scripted responses that show every kind of message. No API key, no network access."

WELCOME: Final = """\
Hello! I am a script: no model, no API key, no network access. Use one of these words in a prompt:

| word | shows |
| --- | --- |
| **weather** | a tool call |
| **approve** | a tool call that needs approval |
| **client** | a tool that the client runs |
| **team** | nested sub-agents |
| **edit** | a coding turn: to-do list, tests, an edit |
| **markdown** | a table, code, a formula, a diagram |
| **think** | reasoning, and a source |
| **long** | a long response, to stop or to resume |
| **flood** | two hundred words per second |
| **fail** | an error |

The agent *demo-network* shows a router that delegates to others.
"""

EDITED: Final[JsonObject] = {
    "file_path": "lamp/reach.py",
    "old_string": "def reach(height):\n    return 3.57 * height**0.5\n",
    "new_string": "def reach(height, eye=2.0):\n    return 3.57 * (height**0.5 + eye**0.5)\n",
}


def _todos(*states: str) -> JsonObject:
    work = ("Run the tests", "Add the height of the eye", "Run the tests again")
    items = [{"content": content, "status": state} for content, state in zip(work, states, strict=True)]
    return call("todo_write", todos=list(items))


EDIT: Final = scene(
    "edit",
    step(
        reasoning("The range is too short. First run the tests."),
        text("I will run the tests, then fix the range."),
        _todos("in_progress", "pending", "pending"),
        call("bash", command="pytest -q tests/test_lamp.py", description="Run the tests"),
    ),
    step(
        text("The eye of the sailor is missing: it is above the sea, too."),
        _todos("completed", "in_progress", "pending"),
        call("edit", **EDITED),
    ),
    step(
        _todos("completed", "completed", "in_progress"),
        call("bash", command="pytest -q --last-failed", description="Run the tests again"),
    ),
    step(_todos("completed", "completed", "completed")),
    step(text("Done: `reach` counts the eye, and all three tests pass.")),
)

TEAM: Final = scene(
    "team",
    step(
        reasoning("Two questions. The surveyor can read the log, and delegate the rest."),
        text("I delegate this to the surveyor."),
        call(
            "task",
            agent="surveyor",
            description="Survey the lamps",
            prompt="How many ships passed on day 12, and is the lamp in order?",
        ),
        text("On day 12, **36 ships** passed, and the lamp is in order."),
    ),
)

SCRIPT: Final[JsonObject] = {
    "scenes": [
        scene(
            "weather",
            step(
                reasoning("The user wants the weather. There is a tool for it."),
                call("get_weather", city="Vardø"),
            ),
            step(text("In Vardø the sky is clear, at **4 °C** with a fresh wind from the north-west.")),
        ),
        scene(
            "approve",
            step(
                text("I would like to send a postcard. May I?"),
                call("send_postcard", to="Aunt Ragna", text="The light is kept. All is well here."),
            ),
            step(text("That is settled, then.")),
        ),
        scene(
            "client",
            step(text("Let me ask your client for the local time."), call("get_local_time")),
            step(text("Thank you, now I know.")),
        ),
        TEAM,
        EDIT,
        scene("markdown", step(text(MARKDOWN))),
        scene(
            "think",
            step(
                reasoning(
                    "How far does a lamp reach? The eye is so high above the sea, the lamp so high; the "
                    "root of each height, times three point five seven, gives kilometres to the horizon. "
                    "Forty-one metres give about twenty-three; an eye at two metres adds five."
                ),
                {
                    "type": "source-url",
                    "sourceId": "horizon",
                    "url": "https://example.org/horizon",
                    "title": "Distance to the horizon",
                },
                text("A lamp at 41 metres is seen from about **28 kilometres** away."),
            ),
        ),
        scene("long", step(reasoning("A long story."), text(STORY))),
        scene("flood", step(text(FLOOD), pause=0.005)),
        scene("fail", step(text("I will try, but"), error="the script says that this one fails")),
        scene(None, step(reasoning("The prompt has none of the words, so I list them."), text(WELCOME))),
    ]
}

SURVEYOR: Final[JsonObject] = {
    "scenes": [
        scene(
            None,
            step(reasoning("The log book first, then the lamp."), call("read_log", day=12), pause=2 * PAUSE),
            step(
                text("The log is clear. The lamp is the clerk's to check."),
                call("task", agent="clerk", description="Check the lamp", prompt="Is the lamp in order?"),
                text("36 ships on day 12; the lamp is in order."),
                pause=2 * PAUSE,
            ),
        )
    ]
}

CLERK: Final[JsonObject] = {
    "scenes": [
        scene(
            None,
            step(
                reasoning("Oil, wick, clock."), text("Oil is full, the wick is trimmed, the clock is wound.")
            ),
        )
    ]
}


class DemoAgent(Agent):
    """An agent whose description says that it is a script."""

    description = DESCRIPTION


def demo_agent() -> Agent:
    """Return the demo agent with its sub-agents."""
    clerk = _scripted(CLERK, "clerk")
    surveyor = Agent(
        DelegatingModel(_scripted(SURVEYOR, "surveyor"), {"clerk": clerk}), tools=[read_log], name="surveyor"
    )
    model = DelegatingModel(_scripted(SCRIPT, NAME), {"surveyor": surveyor})
    return DemoAgent(model, tools=TOOLS, name=NAME)


def _scripted(script: JsonObject, name: str) -> ScriptedService:
    return ScriptedService(as_script(script), name=name)
