"""Calls that wait for a person: for an approval, or for what they lack."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from partita.types.chunks import ToolApprovalRequest, ToolApprovalResponse, ToolOutputChunk
from partita.types.json import JsonObject
from partita.types.tools import ExecutionDeniedOutput

from .calling import Call, Calls, Handler
from .said import Said, same
from .voice import Voice

DESCRIBED: Final = ("suspendPayload", "resumeSchema")
"""What a question shows to the person who is asked."""


class Questions:
    """The questions of the calls of a message, and the refusals."""

    def __init__(self, voice: Voice, calls: Calls) -> None:
        self._voice = voice
        self._calls = calls
        self.handlers: Mapping[str, Handler] = {
            "tool-call-approval": self._question,
            "tool-call-suspended": self._question,
            "tool-output-denied": self._refusal,
            "background-task-suspended": self._interruption,
        }

    def _question(self, said: Said) -> bool:
        """A call waits for a person, who may allow it or bring what it lacks."""
        call = self._calls.known(said)
        if call is None:
            return False
        self.ask(call, said, suspended=said.type == "tool-call-suspended")
        return True

    def _interruption(self, said: Said) -> bool:
        """A call that works in the background waits for a person."""
        call = self._calls.find(said.get("toolCallId"))
        if call is None or call.ended:
            return False
        self._calls.known(said)
        self.ask(call, said, suspended=True)
        return True

    def ask(self, call: Call, said: Said, *, suspended: bool) -> None:
        """A question of a call."""
        run_id = said.around.get("runId")
        call.asked = f"{run_id}::{call.id}" if isinstance(run_id, str) else call.id
        shown: JsonObject = {key: said.rest.pop(key) for key in DESCRIBED if key in said.rest}
        if suspended:
            shown = {"type": "suspension", **shown}
        noted = said.take_metadata()
        if noted is not None:
            shown["metadata"] = noted
        if call.shown and not same(call.shown, shown):
            self._voice.keep(said.type, {"toolCallId": call.id, "before": call.shown})
        call.shown = shown
        self._voice.emit(ToolApprovalRequest(call.asked, call.id, shown or UNSET))

    def _refusal(self, said: Said) -> bool:
        call = self._calls.known(said)
        if call is None:
            return False
        approval: JsonObject = said.take_object("approval") or {}
        reason: str | None = None
        match approval:
            case {"id": str(id_), "approved": False, **rest}:
                reason = rest.pop("reason") if isinstance(rest.get("reason"), str) else None
                if call.asked != id_:
                    self._voice.emit(ToolApprovalRequest(id_, call.id))
                self._voice.emit(ToolApprovalResponse(id_, False, reason))
                said.rest |= {"approval": rest} if rest else {}
            case _:
                said.rest |= {"approval": approval} if approval else {}
        call.ended = True
        self._voice.emit(ToolOutputChunk(call.id, ExecutionDeniedOutput(reason)))
        return True
