"""Longer words of the demo agent: a story, and one of everything that a text may hold."""

from typing import Final

STORY: Final = " ".join(
    f"On day {day} the keeper of the lighthouse wrote down {day * 3} ships, {day} birds and one cloud, "
    "trimmed the lamp, wound the clock and went to bed."
    for day in range(1, 41)
)

FLOOD: Final = "\n\n".join(
    f"Wave {wave}: " + " ".join(f"{wave}.{drop}" for drop in range(1, 39)) for wave in range(1, 27)
)
"""A thousand pieces: at two hundred a second, five seconds."""

MARKDOWN: Final = r"""# A lamp, in full

A paragraph with *emphasis*, **weight**, ~~regret~~, `code` and a [link](https://example.org/lamps).

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
