"""Any agent that speaks the Agent Client Protocol over its pipes."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from partita.errors import AgentError
from partita.formats.agent_decoder import Decoding
from partita.runtime.client_tools import check_client_tools
from partita.runtime.service import Options, Prompt
from partita.types.events import AgentStreamEvent

from .acp_talk import AcpTalk, Allowed
from .conversation import converse
from .process import Launch, Patience, environment_with
from .prompts import request_of


class AcpService:
    """An agent by its command. Whatever it leaves running is ended with it."""

    supports_client_tools = False  # it has tools of its own, and MCP servers in its settings

    def __init__(
        self,
        command: Sequence[str],
        *,
        read_files: bool = False,
        write_files: bool = False,
        terminals: bool = False,
        patience: Patience | None = None,
        name: str = "acp",
    ) -> None:
        """The flags say what the agent may do through us, inside of the folder it works in."""
        if not command:
            raise AgentError("no command is given", hint="name the program that speaks the protocol")
        self.name = name
        self._command = tuple(command)
        self._allowed = Allowed(read_files, write_files, terminals)
        self._patience = patience or Patience()

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one turn; `session_id` is a session of the agent to go on with."""
        given = options or Options()
        check_client_tools(self, given.tools)
        folder = (cwd or Path()).absolute()
        request = request_of(prompt, goes_on=session_id is not None)
        return converse(
            self.name,
            Launch(self._command, cwd, environment_with(given.environment)),
            AcpTalk(request, folder, session_id, given, self._allowed, self._patience),
            Decoding("acp", "lines"),
            self._patience,
        )
