"""Workflows in a stream: each step is a call, its payload the input; what is said in it stands under it."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from .asking import Questions
from .calling import Call, Calls, Handler
from .said import Said

FAILED: Final = ("failed", "error", "tripwire")
NOTES: Final = ("workflow-start", "workflow-finish", "workflow-step-finish")


class Steps:
    """The steps of a workflow, as calls of the message at hand."""

    def __init__(self, calls: Calls, questions: Questions) -> None:
        self._calls = calls
        self._questions = questions
        self._running: dict[str, Call] = {}  # the last call of each step
        self._last: Call | None = None
        self._count = 0
        self.handlers: Mapping[str, Handler] = {
            "workflow-step-start": self._start,
            "workflow-step-output": self._output,
            "workflow-step-result": self._result,
            "workflow-step-suspended": self._suspended,
            **dict.fromkeys(NOTES, self._note),
        }

    def _start(self, said: Said) -> bool:
        id_ = said.get("id")
        if not isinstance(id_, str):
            return False
        self._begin(id_, said)
        return True

    def _begin(self, id_: str, said: Said) -> Call:
        stated = said.get("stepCallId")
        self._count += 1
        call_id = stated if isinstance(stated, str) else id_
        if self._calls.find(call_id) is not None:
            call_id = f"{call_id}:{self._count}"
        call = self._calls.open(call_id, id_, said.rest.pop("payload", UNSET))
        self._running[id_] = self._last = call
        self._take_names(said, call)
        return call

    def _take_names(self, said: Said, call: Call) -> None:
        said.about = {"stepCallId": call.id}
        said.drop({"id": call.name, "stepName": call.name, "stepCallId": call.id})

    def _call_of(self, said: Said) -> Call | None:
        """The call of the step that a chunk is about; it begins now if it has not."""
        id_ = said.get("id")
        if not isinstance(id_, str):
            return None
        call = self._calls.find(said.get("stepCallId")) or self._running.get(id_)
        if call is None or call.ended or call.name != id_:
            return self._begin(id_, said)
        self._take_names(said, call)
        return call

    def _output(self, said: Said) -> bool:
        """What is said in a step: chunks of an agent that works there."""
        step = said.get("stepCallId") or said.get("id") or said.get("stepId")
        call = self._calls.find(step) or self._running.get(str(step)) or self._last
        if call is None or not self._calls.speak(call, said):
            return False
        self._take_names(said, call)
        said.drop({"stepId": call.name})
        return True

    def _result(self, said: Said) -> bool:
        call = self._call_of(said)
        if call is None:
            return False
        failed = said.get("status") in FAILED
        name = "error" if failed and "error" in said.rest else "output"
        self._calls.end(call, said.rest.pop(name, UNSET), said, failed=failed)
        return True

    def _suspended(self, said: Said) -> bool:
        call = self._call_of(said)
        if call is None:
            return False
        self._questions.ask(call, said, suspended=True)
        return True

    def _note(self, said: Said) -> bool:
        """Something of the workflow alone. What there is to say of it is put aside."""
        return True
