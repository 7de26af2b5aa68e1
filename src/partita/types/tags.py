"""Tags in texts of agents: `<name>value</name>`."""

import re
from typing import Final

from .json import JsonObject, is_array

_TAG: Final = re.compile(r"<([a-z][a-z-]{0,40})(?:\s[^<>]{0,200})?>")


def tags_of(text: str) -> JsonObject:
    """The tags of a command, a task or a note, by name; a repeated name has a list."""
    found: JsonObject = {}
    open_ended: set[str] = set()
    at = 0
    while (match := _TAG.search(text, at)) is not None:
        name, at = match.group(1), match.end()
        end = -1 if name in open_ended else text.find(f"</{name}>", at)
        if end < 0:
            open_ended.add(name)
            continue
        value, at = text[at:end], end + len(name) + 3
        if name in found:
            earlier = found[name]
            found[name] = [*earlier, value] if is_array(earlier) else [earlier, value]
        else:
            found[name] = value
    return found
