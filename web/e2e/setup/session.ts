/** Sessions as Claude Code would write them: a line for every record, each pointing at the one before. */
import type { Site } from "./site";

export interface SessionRecord {
  readonly type: "user" | "assistant";
  readonly message: object;
}

export const userSays = (content: string | readonly object[]): SessionRecord => ({
  type: "user",
  message: { role: "user", content },
});

export const assistantSays = (id: string, block: object, usage: object = {}): SessionRecord => ({
  type: "assistant",
  message: { id, type: "message", role: "assistant", model: "claude-baker", content: [block], usage },
});

/** The lines of records, of which the first is the one at that place of the session. */
function linesOf(id: string, records: readonly SessionRecord[], from = 0): string {
  const line = (record: SessionRecord, place: number) =>
    JSON.stringify({
      parentUuid: place ? `${id}-${place - 1}` : null,
      isSidechain: false,
      uuid: `${id}-${place}`,
      timestamp: new Date(Date.UTC(2026, 3, 1, 8, place)).toISOString(),
      sessionId: id,
      cwd: "/kitchen",
      version: "2.1.50",
      ...record,
    });
  return records.map((record, index) => `${line(record, from + index)}\n`).join("");
}

/** The lines of a talk: a question, an answer, and so on. */
export function sessionLines(id: string, said: readonly string[], from = 0): string {
  const record = (text: string, index: number): SessionRecord => {
    const place = from + index;
    if (place % 2 === 0) return userSays(text);
    return assistantSays(
      `msg-${id}-${place}`,
      { type: "text", text },
      { input_tokens: 3, output_tokens: 10 },
    );
  };
  return linesOf(id, said.map(record), from);
}

export async function importLines(site: Site, body: string): Promise<void> {
  const response = await fetch(new URL("api/import", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body,
  });
  if (!response.ok) throw new Error(`the import failed: ${response.status} ${await response.text()}`);
}

export async function runsOf(site: Site, thread: string): Promise<readonly string[]> {
  const { items } = await site.api<{ items: readonly { readonly id: string }[] }>(
    "GET",
    `api/runs?threadId=${encodeURIComponent(thread)}`,
  );
  return items.map(({ id }) => id);
}

export interface Baking {
  readonly session: string;
  readonly degrees: number;
  readonly last: string;
  /** Whether the baker thinks before he kneads. */
  readonly thinks: boolean;
}

/** Imports a session about bread; gives its run. */
export async function bake(site: Site, { session, degrees, last, thinks }: Baking): Promise<string> {
  const records = [
    userSays("Bake bread"),
    ...(thinks ? [assistantSays("m1", { type: "thinking", thinking: "Rye or wheat?", signature: "s" })] : []),
    assistantSays("m1", { type: "text", text: "I knead the dough." }),
    assistantSays("m1", { type: "tool_use", id: "c1", name: "Oven", input: { degrees, fan: true } }),
    userSays([{ type: "tool_result", tool_use_id: "c1", content: "hot" }]),
    assistantSays("m2", { type: "text", text: last }),
  ];
  await importLines(site, linesOf(session, records));
  return (await runsOf(site, session))[0] ?? "";
}
