"""An agent to try things with: no key, no network, always the same.

What it does depends on a word in what it is asked:

- `weather`: thinks, looks up the weather of a place with a tool, and tells it;
- `approve`: wants to send a postcard, and waits for somebody to allow it;
- `client`: asks the client what time it is there, with a tool that the client runs;
- `team`: hands work to a sub-agent, which hands a part of it to another;
- `edit`: mends a program: a plan, a test that fails, an edit, a test that passes;
- `markdown`: shows a table, code, a formula and a diagram;
- `long`: tells a long story;
- `flood`: says two hundred words a second for five seconds;
- `think`: thinks at length, and cites a source;
- `fail`: begins to answer, and fails;
- anything else: says what may be asked.
"""

from typing import Final

from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService, as_script
from partita.types.json import JsonObject

from .scenes import PAUSE, call, reasoning, scene, step, text
from .showing import FLOOD, MARKDOWN, STORY
from .team import Delegating
from .tools import TOOLS, read_log

NAME: Final = "demo"
DESCRIPTION: Final = "A script that shows everything there is to see. No key, no network."

WELCOME: Final = """\
Hello! I am a script: no model, no key, no network. Ask me for one of these to see how it looks:

| word | what happens |
| --- | --- |
| **weather** | a tool is called |
| **approve** | a tool asks before it is run |
| **client** | a tool that your side runs |
| **team** | sub-agents, two deep |
| **edit** | a coding turn: plan, tests, an edit |
| **markdown** | a table, code, a formula, a diagram |
| **think** | reasoning, and a source |
| **long** | a long answer, to stop or to resume |
| **flood** | two hundred words a second |
| **fail** | an error |

The agent *demo-network* shows how a router hands work to others.
"""

EDITED: Final[JsonObject] = {
    "file_path": "lamp/reach.py",
    "old_string": "def reach(height):\n    return 3.57 * height**0.5\n",
    "new_string": "def reach(height, eye=2.0):\n    return 3.57 * (height**0.5 + eye**0.5)\n",
}


def _todos(*states: str) -> JsonObject:
    work = ("Run the tests", "Add the height of the eye", "Run the tests again")
    items = [{"content": words, "status": state} for words, state in zip(work, states, strict=True)]
    return call("todo_write", todos=list(items))


EDIT: Final = scene(
    "edit",
    step(
        reasoning("The range is too short. First see what the tests say."),
        text("I will look at the tests, then mend the range."),
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
        reasoning("Two things to find out. The surveyor knows the log, and whom to ask for the rest."),
        text("I hand this to the surveyor."),
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
                reasoning("Somebody wants the weather. There is a tool for it."),
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
            step(text("Let me ask your side what time it is there."), call("get_local_time")),
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
                    "title": "How far one sees",
                },
                text("A lamp at 41 metres is seen from about **28 kilometres** away."),
            ),
        ),
        scene("long", step(reasoning("A long one, then."), text(STORY))),
        scene("flood", step(text(FLOOD), pause=0.005)),
        scene("fail", step(text("I shall try, but"), error="the script says that this one fails")),
        scene(None, step(reasoning("I should say what I can do."), text(WELCOME))),
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
    """An agent that says of itself that it is a script."""

    description = DESCRIPTION


def demo_agent() -> Agent:
    """The agent that answers when there is no other."""
    clerk = _scripted(CLERK, "clerk")
    surveyor = Agent(
        Delegating(_scripted(SURVEYOR, "surveyor"), {"clerk": clerk}), tools=[read_log], name="surveyor"
    )
    model = Delegating(_scripted(SCRIPT, NAME), {"surveyor": surveyor})
    return DemoAgent(model, tools=TOOLS, name=NAME)


def _scripted(script: JsonObject, name: str) -> ScriptedService:
    return ScriptedService(as_script(script), name=name)
