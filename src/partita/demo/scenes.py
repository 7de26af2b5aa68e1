"""The building blocks of the demo agents' scripts, and their long texts."""

from typing import Final

from partita.types.json import Json, JsonObject

PAUSE: Final = 0.02
"""Seconds between two pieces of a response, so that streaming is visible."""


def text(content: str) -> JsonObject:
    """Return a text part."""
    return {"type": "text", "text": content}


def reasoning(content: str) -> JsonObject:
    """Return a reasoning part."""
    return {"type": "reasoning", "text": content}


def call(name: str, **given: Json) -> JsonObject:
    """Return a tool call."""
    return {"type": "tool-call", "name": name, "input": given}


def step(*parts: JsonObject, pause: float = PAUSE, **more: Json) -> JsonObject:
    """Return a response of the model with estimated token usage."""
    tokens = sum(len(str(part.get("text", "")).split()) for part in parts)
    usage = {"inputTokens": 40, "outputTokens": 12 + tokens, "totalTokens": 52 + tokens}
    return {"parts": list(parts), "pause": pause, "usage": usage, **more}


def scene(match: str | None, *steps: JsonObject) -> JsonObject:
    """Return a scene: its steps are played if the prompt contains `match`, or if it is `None`."""
    return {"steps": list(steps)} if match is None else {"match": match, "steps": list(steps)}


STORY: Final = " ".join(
    f"On day {day} the keeper of the lighthouse wrote down {day * 3} ships, {day} birds and one cloud, "
    "trimmed the lamp, wound the clock and went to bed."
    for day in range(1, 41)
)

FLOOD: Final = "\n\n".join(
    f"Wave {wave}: " + " ".join(f"{wave}.{drop}" for drop in range(1, 39)) for wave in range(1, 27)
)
"""A thousand words: five seconds at two hundred words per second."""

MARKDOWN: Final = r"""# A lamp, in full

A paragraph with *emphasis*, **strong text**, ~~deleted text~~, `code` and a [link](https://example.org/lamps).

| lamp | height | range |
| :--- | ---: | ---: |
| Vardø | 41 m | 28 km |
| Røst | 23 m | 22 km |

```python
def reach(height: float, eye: float = 2.0) -> float:
    \"\"\"Kilometres from which a lamp is seen.\"\"\"
    return 3.57 * (height**0.5 + eye**0.5)  # both above the sea
```

The horizon of a lamp at height $h$ is $d = 3.57\sqrt{h}$, and both together are

$$
d = 3.57\,\bigl(\sqrt{h_\text{lamp}} + \sqrt{h_\text{eye}}\bigr)
$$

```mermaid
graph LR
  dusk --> lit[lamp is lit] --> dawn --> dark[lamp is out]
```

1. Trim the wick.
2. Wind the clock:
   - once at dusk,
   - once at midnight.

> Whoever keeps a light keeps it for others.

- [x] light it
- [ ] put it out
""".replace('\\"', '"')
