/** Tags that agents put around and behind the texts of tools, for the model. */

/** Around errors. */
const ERROR_TAGS = /<\/?(?:tool_use_error|error)>/g;

export const withoutErrorTags = (text: string): string =>
  text.includes("<") ? text.replace(ERROR_TAGS, "") : text;

const MAX_LENGTH = 200_000;
const FIELD = /\s*<([a-z][\w-]*)>([\s\S]*?)<\/\1>\s*/y;
/** Names that are not elements of HTML. */
const FIELD_NAME = /_|^(?:status|stdout|stderr|output|result|timestamp|message|description|error)$/;

export type Field = readonly [name: string, text: string];

/** The fields of a text like `<status>running</status> <exit_code>0</exit_code>`; null for any other text. */
export function fieldsOf(text: string): readonly Field[] | null {
  if (!/^\s*<[a-z]/.test(text) || text.length > MAX_LENGTH) return null;
  const found: Field[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < text.length) {
    const field = FIELD.exec(text);
    if (!field) return null;
    found.push([field[1] ?? "", (field[2] ?? "").replace(/^\n|\n$/g, "")]);
  }
  const names = new Set(found.map(([name]) => name));
  return names.size === found.length && [...names].some((name) => FIELD_NAME.test(name)) ? found : null;
}

const REMINDER = /\s*<system-reminder>\s*([\s\S]*?)\s*(?:<\/system-reminder>\s*|$)/g;

/** A text, and the reminders for the model in it. */
export function splitReminders(text: string): { readonly text: string; readonly reminders: string } {
  const reminders = [...text.matchAll(REMINDER)].map(([, inner]) => inner ?? "");
  return { text: text.replace(REMINDER, "\n").trim(), reminders: reminders.join("\n\n") };
}

// Claude Code: `agentId: a39f (use SendMessage …)` and `<usage>…</usage>`; OpenCode: `task_id: ses_1 (for …)`.
const RESULT_END = /\s*agentId: \S+(?: \([^)\n]*\))?\s*(?:<usage>[\s\S]*<\/usage>)?\s*$/;
const RESULT_START = /^task_id: \S+(?: \([^)\n]*\))?\s*/;
const RESULT_TAGS = /^\s*<task_result>\s*|\s*<\/task_result>\s*$/g;

/** The result of a sub-agent, without what the agent adds for the model: ids and usage. */
export function resultOf(text: string): string {
  const body = text.replace(RESULT_END, "");
  return body.replace(RESULT_START, "").replace(RESULT_TAGS, "");
}

/** The answer of a web search, without the list of links in it, which is displayed as such. */
export const withoutLinks = (text: string): string => text.replace(/^Links: \[.*\]$\n*/m, "");

/** The output of a tool of an MCP server, without the lines that Codex puts before it. */
export const withoutWallTime = (text: string): string => text.replace(/^Wall time: [^\n]*\nOutput:\n/, "");
