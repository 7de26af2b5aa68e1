"""An agent to try things with: no key, no network, always the same.

What it does depends on a word in what it is asked:

- `weather`: thinks, looks up the weather of a place with a tool, and tells it;
- `approve`: wants to send a postcard, and waits for somebody to allow it;
- `client`: asks the client what time it is there, with a tool that the client runs;
- `long`: tells a long story;
- `think`: thinks at length, and cites a source;
- `fail`: begins to answer, and fails;
- anything else: says what may be asked.
"""

from typing import Final

from partita.runtime.agent.agent import Agent
from partita.runtime.scripted.script import as_script
from partita.runtime.scripted.service import ScriptedService
from partita.runtime.tools.tool import client_tool, tool
from partita.types.json import Json, JsonObject

NAME: Final = "demo"
PAUSE: Final = 0.02
"""Seconds between two pieces of an answer, so that one sees it stream."""


@tool
def get_weather(city: str) -> dict[str, Json]:
    """The weather of a city, as it is in a town that does not exist.

    Args:
        city: The name of the city.
    """
    return {"city": city, "sky": "clear", "celsius": 4, "wind": {"from": "north-west", "metresPerSecond": 7}}


@tool(approval="always")
def send_postcard(to: str, text: str) -> str:
    """Send a postcard. Somebody has to allow it; nothing is sent in truth.

    Args:
        to: Who gets it.
        text: What is written on it.
    """
    return f"A postcard with {len(text.split())} words is on its way to {to}."


LOCAL_TIME: Final = client_tool("get_local_time", "What time it is where the client is.")


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _reasoning(text: str) -> JsonObject:
    return {"type": "reasoning", "text": text}


def _call(name: str, **given: str) -> JsonObject:
    return {"type": "tool-call", "name": name, "input": given}


def _step(*parts: JsonObject, **more: Json) -> JsonObject:
    words = sum(len(str(part.get("text", "")).split()) for part in parts)
    usage = {"inputTokens": 40, "outputTokens": 12 + words, "totalTokens": 52 + words}
    return {"parts": list(parts), "pause": PAUSE, "usage": usage, **more}


STORY: Final = " ".join(
    f"On day {day} the keeper of the lighthouse wrote down {day * 3} ships, {day} birds and one cloud, "
    "trimmed the lamp, wound the clock and went to bed."
    for day in range(1, 41)
)

WELCOME: Final = """\
Hello! I am a script: no model, no key, no network. Ask me for one of these to see how it looks:

| word | what happens |
| --- | --- |
| **weather** | a tool is called |
| **approve** | a tool asks before it is run |
| **client** | a tool that your side runs |
| **think** | reasoning, and a source |
| **long** | a long answer, to stop or to resume |
| **fail** | an error |
"""

SCRIPT: Final[JsonObject] = {
    "scenes": [
        {
            "match": "weather",
            "steps": [
                _step(
                    _reasoning("Somebody wants the weather. There is a tool for it."),
                    _call("get_weather", city="Vardø"),
                ),
                _step(_text("In Vardø the sky is clear, at **4 °C** with a fresh wind from the north-west.")),
            ],
        },
        {
            "match": "approve",
            "steps": [
                _step(
                    _text("I would like to send a postcard. May I?"),
                    _call("send_postcard", to="Aunt Ragna", text="The light is kept. All is well here."),
                ),
                _step(_text("That is settled, then.")),
            ],
        },
        {
            "match": "client",
            "steps": [
                _step(_text("Let me ask your side what time it is there."), _call("get_local_time")),
                _step(_text("Thank you, now I know.")),
            ],
        },
        {
            "match": "think",
            "steps": [
                _step(
                    _reasoning(
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
                    _text("A lamp at 41 metres is seen from about **28 kilometres** away."),
                )
            ],
        },
        {"match": "long", "steps": [_step(_reasoning("A long one, then."), _text(STORY))]},
        {
            "match": "fail",
            "steps": [_step(_text("I shall try, but"), error="the script says that this one fails")],
        },
        {"steps": [_step(_reasoning("I should say what I can do."), _text(WELCOME))]},
    ]
}


def demo_agent() -> Agent:
    """The agent that answers when there is no other."""
    model = ScriptedService(as_script(SCRIPT), name=NAME)
    return Agent(model, tools=[get_weather, send_postcard, LOCAL_TIME], name=NAME)
