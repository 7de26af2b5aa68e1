"""Codex as an agent: its app server where someone wants to be asked, `codex exec` where nobody does."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from partita.formats.agent_decoder import Decoding
from partita.runtime.client_tools import check_client_tools
from partita.runtime.service import Options, Prompt
from partita.types.events import AgentStreamEvent
from partita.types.json import dumps, is_object

from .codex_talk import ExecTalk, ServerTalk
from .conversation import converse
from .dialogue import Dialogue, safe_name
from .process import Launch, Patience, environment_with
from .prompts import request_of

OVERRIDES: Final[Mapping[str, str]] = {
    "approvalPolicy": "approval_policy",
    "effort": "model_reasoning_effort",
    "summary": "model_reasoning_summary",
}
"""Settings that `codex exec` takes as changes of its configuration."""


class CodexService:
    """Codex. Whatever it leaves running is ended with it."""

    name = "codex"
    supports_client_tools = False  # it has tools of its own, and MCP servers in its settings

    def __init__(self, command: Sequence[str] = ("codex",), *, patience: Patience | None = None) -> None:
        """`command` is the program and what comes before our own arguments."""
        self._command = tuple(command)
        self._patience = patience or Patience()

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one turn; `session_id` is a thread of Codex to go on with."""
        given = options or Options()
        check_client_tools(self, given.tools)
        request = request_of(prompt, goes_on=session_id is not None)
        environment = environment_with(given.environment)
        if (
            given.desk is not None or request.files
        ):  # `codex exec` asks nobody, and takes files from disk only
            folder = str((cwd or Path()).absolute())
            dialogue: Dialogue = ServerTalk(request, folder, session_id, given)
            launch = Launch([*self._command, "app-server"], cwd, environment)
        else:
            dialogue = ExecTalk(session_id)
            words = [*self._command, "exec", "--json", *_arguments(session_id, given), "-"]
            launch = Launch(words, cwd, environment, request.text.encode(errors="surrogatepass"))
        return converse(self.name, launch, dialogue, Decoding("codex-exec", "lines"), self._patience)


def _arguments(session_id: str | None, options: Options) -> list[str]:
    settings = options.settings
    words: list[str] = []
    if options.model is not None:
        words.append(f"--model={options.model}")
    if isinstance(sandbox := settings.get("sandbox"), str):
        words.append(f"--sandbox={sandbox}")
    if settings.get("skipGitRepoCheck") is True:
        words.append("--skip-git-repo-check")
    changes = {key: settings[name] for name, key in OVERRIDES.items() if name in settings}
    if options.instructions is not None:
        changes["developer_instructions"] = options.instructions
    if is_object(config := settings.get("config")):
        changes |= config
    for key, value in changes.items():
        words += ["-c", f"{key}={dumps(value).decode()}"]
    return words if session_id is None else [*words, "resume", safe_name(session_id, "thread id")]
