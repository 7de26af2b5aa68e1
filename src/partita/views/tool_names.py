"""The names of tools, by what the tools do.

Names are those of Claude Code, Codex, Gemini CLI, OpenCode, Copilot, Cursor, Pi, Qwen Code and of the tools
that OpenAI and Anthropic run on their servers, as seen in recordings, in lower case.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

NamedKind: TypeAlias = Literal[
    "command", "edit", "read", "search", "todos", "plan", "question", "fetch", "web-search", "agent"
]
"""The kinds that the name of a tool decides."""


class NamedTool(NamedTuple):
    """The kind of a tool, and the title of its calls."""

    kind: NamedKind
    title: str
    names: str


TOOLS: Final = (
    NamedTool(
        "command",
        "Shell",
        "bash bash_code_execution bashoutput code_execution code_interpreter command_execution exec"
        " exec_command execute_command killbash killshell local_shell local_shell_call powershell python"
        " run_code run_command run_in_terminal run_shell_command run_terminal_cmd shell shell_command"
        " terminal write_stdin",
    ),
    NamedTool(
        "edit",
        "Edit",
        "apply_patch edit edit_file multiedit notebookedit patch replace search_replace"
        " str_replace_based_edit_tool str_replace_editor text_editor_code_execution",
    ),
    NamedTool("edit", "Write", "create_file write write_file"),
    NamedTool("read", "Read", "notebookread read read_file read_many_files view view_file view_image"),
    NamedTool("search", "Search", "codebase_search grep grep_search rg search_file_content toolsearch"),
    NamedTool("search", "Find files", "file_search find glob"),
    NamedTool("search", "List", "list list_dir list_directory ls"),
    NamedTool(
        "todos", "To do", "tasklist todo todo_list todo_write todoread todowrite update_plan write_todos"
    ),
    NamedTool("plan", "Plan", "exit_plan_mode exitplanmode"),
    NamedTool(
        "question", "Question", "ask_user ask_user_question askuserquestion question request_user_input"
    ),
    NamedTool("fetch", "Fetch", "fetch web_fetch webfetch"),
    NamedTool("web-search", "Web search", "google_web_search web_search web_search_call websearch"),
    NamedTool("agent", "sub-agent", "agent spawn_agent subagent task"),
)
# https://agentclientprotocol.com/protocol/tool-calls#param-kind
ACP_KINDS: Final[Mapping[str, NamedTool]] = {
    "execute": NamedTool("command", "Shell", ""),
    "edit": NamedTool("edit", "Edit", ""),
    "delete": NamedTool("edit", "Delete", ""),
    "move": NamedTool("edit", "Move", ""),
    "read": NamedTool("read", "Read", ""),
    "search": NamedTool("search", "Search", ""),
    "fetch": NamedTool("fetch", "Fetch", ""),
}
"""Tools of unknown names by their kind in the Agent Client Protocol."""

BY_NAME: Final[Mapping[str, NamedTool]] = {name: tool for tool in TOOLS for name in tool.names.split()}

# `anthropic.web_search` and `openai:shell` name the provider, `web_search_20250305` the version of the tool.
PROVIDER: Final = re.compile(r"^[a-z-]+[.:]")
VERSION: Final = re.compile(r"_\d{8}$")
# Claude Code's names of MCP tools: https://docs.claude.com/en/docs/claude-code/mcp. Codex omits `mcp__`.
MCP: Final = re.compile(r"^(?:mcp__)?((?!mcp__).+?)__(.+)$", re.DOTALL)


def find_tool(name: str) -> NamedTool | None:
    """The tool of a name; `None` if the name is not known."""
    lower = name.lower()
    return BY_NAME.get(lower) or BY_NAME.get(VERSION.sub("", PROVIDER.sub("", lower)))


def kind_of(name: str) -> NamedKind | Literal["other"]:
    """The kind of a tool by its name alone; `other` if the name is not known."""
    tool = find_tool(name)
    return tool.kind if tool is not None else "other"


def tool_title(name: str) -> str:
    """The name of a tool as it is displayed: `server: tool` for a tool of an MCP server."""
    found = MCP.match(name)
    return f"{found[1]}: {found[2]}" if found else name
