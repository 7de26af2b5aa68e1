"""Text files for an agent that asks its client for them, and none outside of its folder."""

from pathlib import Path

from partita.errors import AgentError
from partita.types.json import Json, JsonObject


def confined(root: Path, path: Json) -> Path:
    """A path inside of `root`, links followed; an `AgentError` for any other."""
    if not isinstance(path, str) or not path or "\0" in path:
        raise AgentError("no path is given", hint="name a file by its absolute path")
    base = root.resolve()
    found = (base / path).resolve()
    if found != base and base not in found.parents:
        raise AgentError(f"{path} is outside of {base}", hint="name a file inside of the folder")
    return found


def read_file(root: Path, params: JsonObject) -> JsonObject:
    """The text of a file, or some lines of it; `line` counts from one."""
    text = confined(root, params.get("path")).read_text(encoding="utf-8", errors="replace")
    line, limit = params.get("line"), params.get("limit")
    if line is None and limit is None:
        return {"content": text}
    first = max(line - 1, 0) if isinstance(line, int) else 0
    last = first + max(limit, 0) if isinstance(limit, int) else None
    return {"content": "".join(text.splitlines(keepends=True)[first:last])}


def write_file(root: Path, params: JsonObject) -> JsonObject:
    """Write a file, and the folders it needs."""
    place, content = confined(root, params.get("path")), params.get("content")
    if not isinstance(content, str):
        raise AgentError("no content is given", hint="give the text of the file")
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(content)
    return {}
