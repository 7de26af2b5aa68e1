"""What tools gave back: results to their calls, whenever they come, and what they tell beside the output."""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.formats.claude_code.results import output_chunk
from partita.types.chunks import (
    SourceUrlChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object

from .envelope import (
    AGENT,
    LINE,
    WHOLE,
    WITH,
    difference,
)
from .side import RESPONSES, Side

NO_CALL: Final = "a result without its call"
_SAME: Final = ("type", "uuid", LINE)
"""What tells that two results are of one record."""


class Outcomes(Side):
    """Results, told."""

    def _results(self, record: JsonObject, content: list[Json]) -> list[Json]:
        """Give results to their calls; gives the blocks that are no results."""
        structured = record.pop("toolUseResult", UNSET)
        if len(content) == 1 and is_object(content[0]):
            self._result(record, content[0], structured)
            return []
        told = record
        others: list[Json] = []
        beside: list[int] = []
        for number, block in enumerate(content):
            if not is_object(block) or block.get("type") != "tool_result":
                others.append(block)
                beside.append(number)
                continue
            self._result({**told, WITH: [number]}, block, structured)
            told, structured = {name: record[name] for name in _SAME if name in record}, UNSET
        record[WITH] = beside
        return others

    def _result(self, record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> None:
        call = block.get("tool_use_id")
        id_ = self._sink.call_message(call) if type(call) is str else None
        if id_ is None or type(call) is not str:
            self._give_up(str(call))
            self._early[str(call)] = (record, block, structured)
            if len(self._early) > RESPONSES:
                self._give_up(next(iter(self._early)))
            return
        if not self._sink.is_waiting(call):
            self._sink.report_unknown("a result of a call that has one, or is long past", detail=call)
            self._note("claude-code-again", _alone(record, block, structured))
            return
        kind = record.get("toolDenialKind")
        response = self._by_message.get(id_)
        envelope = record | {WHOLE: True} if response is None else difference(response.base, record)
        denied = kind if type(kind) is str else None
        metadata: JsonObject = {AGENT: envelope}
        self._sink.append(id_, output_chunk(block, structured, denied=denied, provider_metadata=metadata))
        if is_object(structured):
            self._follow_up(id_, call, structured)
        if call in self._tasks and (agent := self._find_agent(self._tasks[call])) is not None:
            self._link(agent, call)

    def finish(self) -> None:
        """Results whose calls never came are kept as what they are."""
        for call in list(self._early):
            self._give_up(call)

    def _give_up(self, call: str) -> None:
        if call in self._early:
            self._sink.report_unknown(NO_CALL, detail=call)
            early = self._early.pop(call)
            with self._sink.as_of(early[0][LINE]):
                self._note("claude-code-result", _alone(*early))

    def _link(self, agent: str, call: str) -> None:
        self._tasks.pop(call, None)
        self._sink.link(agent, call)

    def claim(self, prompt: str) -> str | None:
        """The first call that gave a sub-agent this prompt, if nobody knows which one that was."""
        for call, given in self._tasks.items():
            if given == prompt:
                del self._tasks[call]
                return call
        return None

    def _follow_up(self, message_id: str, call: str, structured: JsonObject) -> None:
        """What a structured result tells beside the output: the sub-agent that worked, the pages found."""
        agent = structured.get("agentId")
        if isinstance(agent, str):
            self._link(agent, call)
        results = structured.get("results")
        if is_array(results) and "query" in structured:
            found = [
                page
                for result in results
                if is_object(result) and is_array(result.get("content"))
                for page in result["content"]
                if is_object(page) and isinstance(page.get("url"), str)
            ]
            for number, page in enumerate(found):
                title = page.get("title")
                self._sink.append(
                    message_id,
                    SourceUrlChunk(
                        f"{call}:{number}", page["url"], title if isinstance(title, str) else None
                    ),
                )
        elif isinstance(structured.get("url"), str) and "codeText" in structured:
            self._sink.append(message_id, SourceUrlChunk(f"{call}:0", structured["url"]))


def _alone(record: JsonObject, block: JsonObject, structured: Json | UnsetType) -> JsonObject:
    """The record of a result that goes with no call."""
    alone: JsonObject = {**record, "message": {**record.get("message", {}), "content": [block]}}
    if structured is not UNSET:
        alone["toolUseResult"] = structured
    return alone
