"""What a client of AG-UI sends: the input of a run."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from partita.formats.ag_ui.format import load
from partita.formats.format import Loaded
from partita.runtime.session.approvals import Answer
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import SystemMessage


class ResumeEntry(msgspec.Struct, rename="camel", omit_defaults=True):
    """The answer to something that a run waits for."""

    interrupt_id: Annotated[str, Meta(description="What is answered: the id of the interrupt.")]
    status: Literal["resolved", "cancelled"]
    payload: Annotated[Json, Meta(description="`{approved, reason?}` for a call that has to be allowed.")] = (
        None
    )

    def answer(self, by: str) -> Answer:
        """Whether the call may run. What is not plainly allowed is not."""
        said: JsonObject = self.payload if is_object(self.payload) else {"approved": self.payload}
        reason = said.get("reason")
        approved = self.status == "resolved" and said.get("approved") is True
        return Answer(self.interrupt_id, approved, by=by, reason=reason if isinstance(reason, str) else None)


class RunInput(msgspec.Struct, rename="camel", kw_only=True):
    """The input of a run. Other members, and instructions among the messages, are not for a client to say."""

    thread_id: Annotated[str, Meta(min_length=1, description="The thread of that id.", examples=["chat-1"])]
    run_id: Annotated[str, Meta(min_length=1, description="What the client calls the run.")]
    messages: Annotated[list[dict[str, Any]], Meta(description="All messages that the client has.")]
    tools: Annotated[list[dict[str, Any]] | None, Meta(description="Tools that the client runs itself.")] = (
        None
    )
    resume: Annotated[
        list[ResumeEntry] | None, Meta(description="Answers to what the run before waits for.")
    ] = None


def read_input(body: RunInput) -> Loaded:
    """The messages of a client that are talk, and its tools."""
    request: JsonObject = {"messages": body.messages, "tools": body.tools or []}
    loaded = load(request)
    talk = [
        message
        for message in loaded.messages
        if not isinstance(message, SystemMessage) and not message.internal and message.type != "event"
    ]
    return Loaded(tuple(talk), loaded.losses, loaded.request)
