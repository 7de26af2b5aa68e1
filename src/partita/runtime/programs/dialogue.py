"""The dialogue with a program during one turn: what to send it, and how to handle what it sends.

A dialogue does no I/O: it returns actions, which the turn performs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from partita.errors import AgentError
from partita.runtime.service import ApprovalDecision, ApprovalGate, ApprovalRequest
from partita.types.json import Json, JsonObject, is_object

NO_APPROVALS: Final = "no user is available to approve it"
"""The reason for a denial if there is no approval gate. It is sent to the agent."""


class Send(NamedTuple):
    """Write a message to the input of the program, as one line."""

    message: JsonObject
    is_recorded: bool = True
    """Whether it belongs to the record, where the decoder reads it like the messages of the program."""


class Start(NamedTuple):
    """Start a task, whose result are further actions. Meanwhile the dialogue continues."""

    key: str
    work: Coroutine[Any, Any, Sequence["Action"]]


class Cancel(NamedTuple):
    """Cancel a task: its result is no longer needed."""

    key: str


Action: TypeAlias = Send | Start | Cancel


class Outcome(NamedTuple):
    """How a turn ended: successfully, unless there is an error."""

    result: JsonObject
    error: str | None = None
    name: str | None = None


class Dialogue(ABC):
    """One turn with a program."""

    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        """The program's own id of the conversation, once it is known."""
        self.outcome: Outcome | None = None
        """Set when the turn is over."""

    def open(self) -> Sequence[Action]:
        """What to do first."""
        return []

    @abstractmethod
    def receive(self, message: Json) -> Sequence[Action]:
        """What to do about a message of the program."""

    def interrupt(self) -> Sequence[Send]:
        """What to send so that the program ends its turn; nothing if it reads no input."""
        return []

    async def close(self) -> None:  # noqa: B027 # most dialogues start nothing
        """Clean up what was started on behalf of the program."""


async def request_approval(approvals: ApprovalGate | None, request: ApprovalRequest) -> ApprovalDecision:
    """The decision of the approval gate; a denial if there is none."""
    return ApprovalDecision(False, NO_APPROVALS) if approvals is None else await approvals.request(request)


def check_id(value: str, what: str) -> str:
    """An id for a command line; an `AgentError` if the program would read it as an option."""
    if not value or value.startswith("-"):
        raise AgentError(f"{value!r} is not a {what}", hint=f"give the {what} that the agent reported")
    return value


# JSON-RPC, one message a line, from the side of the client.

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602

OnResult: TypeAlias = Callable[[JsonObject], Sequence[Action]]
"""What to do with the result of a request."""


class PendingRequest(NamedTuple):
    """A request without a response."""

    method: str
    on_result: OnResult


class RpcError(NamedTuple):
    """An error that the program sent as the response to a request of ours."""

    method: str
    code: Json
    message: str


class JsonRpcDialogue(Dialogue):
    """One turn with a program that speaks JSON-RPC."""

    def __init__(
        self, session_id: str | None, envelope: JsonObject, *, is_recorded: bool, prefix: str = ""
    ) -> None:
        """`envelope` are members of every message; `is_recorded`: whether our requests belong to the record.

        With a `prefix`, our ids are text, so that they differ from those of the program.
        """
        super().__init__(session_id)
        self._envelope = envelope
        self._is_recorded = is_recorded
        self._prefix = prefix
        self._pending: dict[int | str, PendingRequest] = {}
        self._count = 0

    def receive(self, message: Json) -> Sequence[Action]:
        """Handle a response, a request or a notification."""
        if not is_object(message):
            return []
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return self._on_response(message)
        given = params if is_object(params) else {}
        if "id" in message:
            return [self._on_request(message["id"], method, given)]
        return self._on_notification(method, given)

    @abstractmethod
    def _on_request(self, id: Json, method: str, params: JsonObject) -> Action:
        """The response to a request of the program, or the task that produces it."""

    @abstractmethod
    def _on_notification(self, method: str, params: JsonObject) -> Sequence[Action]:
        """What to do about a notification."""

    @abstractmethod
    def _on_error(self, error: RpcError) -> None:
        """Handle the failure of a request of ours."""

    def _on_response(self, message: JsonObject) -> Sequence[Action]:
        number = message.get("id")
        pending = self._pending.pop(number, None) if isinstance(number, int | str) else None
        if pending is None:
            return []
        error, result = message.get("error"), message.get("result")
        if is_object(error):
            text = str(error.get("message") or "unknown error")
            self._on_error(RpcError(pending.method, error.get("code"), text))
            return []
        return pending.on_result(result if is_object(result) else {})

    def _request(self, method: str, params: JsonObject, on_result: OnResult) -> Send:
        number = f"{self._prefix}{self._count}" if self._prefix else self._count
        self._count += 1
        self._pending[number] = PendingRequest(method, on_result)
        message: JsonObject = {**self._envelope, "id": number, "method": method, "params": params}
        return Send(message, self._is_recorded)

    def _notification(self, method: str, params: JsonObject | None = None) -> Send:
        given = {} if params is None else {"params": params}
        return Send({**self._envelope, "method": method, **given}, self._is_recorded)

    def _result(self, id: Json, result: Json) -> Send:
        """The response to a request of the program."""
        return Send({**self._envelope, "id": id, "result": result})

    def _error(self, id: Json, code: int, message: str) -> Send:
        """An error, as the response to a request of the program."""
        return Send({**self._envelope, "id": id, "error": {"code": code, "message": message}})
