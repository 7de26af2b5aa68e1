/** What a call is: by the name of its tool, else by what it was given. */
import { type Call, word } from "./call";
import { isObject } from "./json";
import { BEGIN, isChange } from "./patches";
import { todosOf } from "./plans";
import { commandOf } from "./shell";

export type Kind =
  | "terminal"
  | "change"
  | "read"
  | "search"
  | "todo"
  | "plan"
  | "question"
  | "fetch"
  | "websearch"
  | "agent"
  | "network"
  | "unknown";

const TOOLS: Partial<Readonly<Record<Kind, string>>> = {
  terminal: `bash bashoutput bash_code_execution code_execution code_interpreter execute_command exec exec_command
    killbash killshell local_shell local_shell_call powershell python run_code run_command run_in_terminal
    run_shell_command run_terminal_cmd shell shell_command terminal write_stdin`,
  change: `apply_patch create_file edit edit_file multiedit notebookedit patch replace search_replace
    str_replace_based_edit_tool str_replace_editor text_editor_code_execution write write_file`,
  read: "notebookread read read_file read_many_files view view_file view_image",
  search: `codebase_search file_search find glob grep grep_search list list_dir list_directory ls rg
    search_file_content toolsearch`,
  todo: "tasklist todo todo_list todo_write todoread todowrite update_plan write_todos",
  plan: "exitplanmode exit_plan_mode",
  question: "ask_user ask_user_question askuserquestion question request_user_input",
  fetch: "fetch web_fetch webfetch",
  websearch: "google_web_search web_search web_search_call websearch",
  agent: "agent spawn_agent subagent task",
};
const BY_NAME = new Map(
  Object.entries(TOOLS).flatMap(([kind, names]) => names.split(/\s+/).map((name) => [name, kind as Kind])),
);
/** An input of these alone is a command, whatever its tool is called. */
const OF_COMMANDS = new Set(["command", "cwd", "description", "timeout", "workdir"]);
const VIEWING_COMMANDS = new Set(["view"]);

export function kindOf(call: Call): Kind {
  if (isObject(call.part.toolMetadata?.networkExecution)) return "network";
  const known = BY_NAME.get(plainName(call.part.name));
  if (known === "terminal" && commandOf(call).includes(BEGIN)) return "change";
  if (known === "change" && VIEWING_COMMANDS.has(word(call, "command"))) return "read";
  if (known) return known;
  if (call.part.children?.length) return "agent";
  if (isChange(call)) return "change";
  if (/todo/i.test(call.part.name) && todosOf(call).length) return "todo";
  const names = Object.keys(call.input);
  if (word(call, "command") && names.every((name) => OF_COMMANDS.has(name))) return "terminal";
  return "unknown";
}

/** Without the provider in front and the date behind. */
const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^[a-z-]+[.:]/, "")
    .replace(/_\d{8}$/, "");

/** The name of a tool; of one behind MCP its server too. */
export function toolName(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return server && tool ? `${server}: ${tool}` : name;
}
