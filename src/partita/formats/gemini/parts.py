"""The parts of an answer, by what they hold."""

from collections.abc import Callable
from typing import TypeAlias

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import DataChunk, FileChunk, ReasoningFileChunk
from partita.types.json import Json, JsonObject, is_object

from .calls import Calls
from .ids import CallIds
from .looking import NAMESPACE, SIGNATURE, THOUGHT, UNTYPED, marks_of, more_of, text_at
from .server_tools import ServerTools
from .sources import ANY_BYTES, Sources
from .words import Words

UNKNOWN = "data-google-unknown"

Take: TypeAlias = Callable[[JsonObject, JsonObject], bool]


class Parts:
    """Tells the parts of one answer."""

    def __init__(self, outlet: Outlet, ids: CallIds) -> None:
        self.sources = Sources(outlet)
        self.words = Words(outlet, self.sources)
        self.calls = Calls(outlet, ids)
        self._outlet = outlet
        tools = ServerTools(outlet, ids)
        self._takers: dict[str, Take] = {
            "functionCall": self.calls.take,
            "executableCode": tools.take_code,
            "codeExecutionResult": tools.take_code_result,
            "toolCall": tools.take_call,
            "toolResponse": tools.take_response,
            "inlineData": self._take_inline,
            "fileData": self._take_file,
        }

    def take(self, part: Json) -> None:
        """A part. What it holds is told in order; what is not understood is kept."""
        if not is_object(part) or not self._take(part):
            self.words.close()
            self.puzzle(part)

    def puzzle(self, value: Json) -> None:
        """Keep what is not understood."""
        self._outlet.emit(DataChunk(UNKNOWN, value))

    def _take(self, part: JsonObject) -> bool:
        held = [key for key in self._takers if part.get(key) is not None]
        text = part.get("text", "" if SIGNATURE in part and not held else None)
        if isinstance(text, str):
            self.words.take(part, text)
        elif text is not None:
            return False
        results = [self._take_held(part, key) for key in held]
        return all(results) and bool(held or text is not None or not part)

    def _take_held(self, part: JsonObject, key: str) -> bool:
        content = part[key]
        if not is_object(content):
            return False
        self.words.close()
        return self._takers[key](part, content)

    def _take_inline(self, part: JsonObject, blob: JsonObject) -> bool:
        media_type = text_at(blob, "mimeType") or ANY_BYTES
        data = blob.get("data", "")
        if not isinstance(data, str):
            return False
        more = more_of(blob, "inlineData", "mimeType", "data")
        return self._tell_file(part, blob, f"data:{media_type};base64,{data}", media_type, more)

    def _take_file(self, part: JsonObject, file: JsonObject) -> bool:
        url = text_at(file, "fileUri")
        if url is None:
            return False
        more = more_of(file, "fileData", "mimeType", "fileUri")
        return self._tell_file(part, file, url, text_at(file, "mimeType") or ANY_BYTES, more)

    def _tell_file(
        self, part: JsonObject, file: JsonObject, url: str, media_type: str, more: JsonObject
    ) -> bool:
        marks = {**marks_of(part, "inlineData", "fileData"), **more}
        if text_at(file, "mimeType") is None:
            marks[UNTYPED] = True
        chunk = ReasoningFileChunk if part.get(THOUGHT) is True else FileChunk
        self._outlet.emit(chunk(url, media_type, {NAMESPACE: marks} if marks else None))
        return True
