/** Sessions in the format of Claude Code: one line per record, with the id of the previous record. */
import type { Site } from "./site";

export interface SessionRecord {
  readonly type: "user" | "assistant";
  readonly message: object;
  /** What Claude Code adds to the result of a tool. */
  readonly toolUseResult?: object;
}

export const userRecord = (content: string | readonly object[]): SessionRecord => ({
  type: "user",
  message: { role: "user", content },
});

export const assistantRecord = (id: string, block: object, usage: object = {}): SessionRecord => ({
  type: "assistant",
  message: { id, type: "message", role: "assistant", model: "claude-baker", content: [block], usage },
});

/** A call of a tool and its result. */
export const toolRecords = (
  id: string,
  name: string,
  input: object,
  result: string,
  failed = false,
  details?: object,
): readonly SessionRecord[] => [
  assistantRecord(`msg-${id}`, { type: "tool_use", id: `toolu-${id}`, name, input }),
  {
    ...userRecord([{ type: "tool_result", tool_use_id: `toolu-${id}`, content: result, is_error: failed }]),
    ...(details && { toolUseResult: details }),
  },
];

/** The lines of records. `from` is the index of the first one in the session. */
function linesOf(id: string, records: readonly SessionRecord[], from = 0): string {
  const line = (record: SessionRecord, index: number) =>
    JSON.stringify({
      parentUuid: index ? `${id}-${index - 1}` : null,
      isSidechain: false,
      uuid: `${id}-${index}`,
      timestamp: new Date(Date.UTC(2026, 3, 1, 8, index)).toISOString(),
      sessionId: id,
      cwd: "/kitchen",
      version: "2.1.50",
      ...record,
    });
  return records.map((record, index) => `${line(record, from + index)}\n`).join("");
}

/** The lines of a conversation: user and assistant texts alternate. */
export function sessionLines(id: string, texts: readonly string[], from = 0): string {
  const record = (text: string, offset: number): SessionRecord => {
    const index = from + offset;
    if (index % 2 === 0) return userRecord(text);
    return assistantRecord(
      `msg-${id}-${index}`,
      { type: "text", text },
      { input_tokens: 3, output_tokens: 10 },
    );
  };
  return linesOf(id, texts.map(record), from);
}

export async function importLines(site: Site, body: string): Promise<void> {
  const response = await fetch(new URL("api/import", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body,
  });
  if (!response.ok) throw new Error(`Import failed: ${response.status} ${await response.text()}`);
}

/** Imports a session, or what it has more than when it was imported last. */
export const importRecords = (site: Site, id: string, records: readonly SessionRecord[]): Promise<void> =>
  importLines(site, linesOf(id, records));

export async function runsOf(site: Site, thread: string): Promise<readonly string[]> {
  const { items } = await site.api<{ items: readonly { readonly id: string }[] }>(
    "GET",
    `api/runs?threadId=${encodeURIComponent(thread)}`,
  );
  return items.map(({ id }) => id);
}

export interface BreadSession {
  readonly session: string;
  readonly degrees: number;
  readonly last: string;
  /** Whether the session contains reasoning. */
  readonly thinks: boolean;
}

/** Imports a session about bread. Returns its run. */
export async function importBreadSession(
  site: Site,
  { session, degrees, last, thinks }: BreadSession,
): Promise<string> {
  const records = [
    userRecord("Bake bread"),
    ...(thinks
      ? [assistantRecord("m1", { type: "thinking", thinking: "Rye or wheat?", signature: "s" })]
      : []),
    assistantRecord("m1", { type: "text", text: "I knead the dough." }),
    assistantRecord("m1", { type: "tool_use", id: "c1", name: "Oven", input: { degrees, fan: true } }),
    userRecord([{ type: "tool_result", tool_use_id: "c1", content: `hot, batch ${session}` }]),
    assistantRecord("m2", { type: "text", text: last }),
  ];
  await importLines(site, linesOf(session, records));
  return (await runsOf(site, session))[0] ?? "";
}
