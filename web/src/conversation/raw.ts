/** The text of a raw log record. */
import type { RawRecord } from "../api/messages";

/** `pretty` indents JSON; `bytes` is the exact text. */
export type RawForm = "pretty" | "bytes";

/** Longer records are not indented: it would take too long. */
const MAX_INDENTED = 2_000_000;

export function rawText(record: RawRecord, form: RawForm): string {
  const { raw, encoding, chunk } = record;
  if (raw === undefined) return JSON.stringify(chunk, null, form === "pretty" ? 2 : undefined) ?? "";
  return form === "bytes" || encoding === "base64" ? raw : indented(raw);
}

/** Indented JSON; of a server-sent event, the JSON after `data:`. */
function indented(raw: string): string {
  if (raw.length > MAX_INDENTED) return raw;
  const event = /^data: ?([[{][^\n]*)\s*$/m.exec(raw);
  try {
    return JSON.stringify(JSON.parse(event?.[1] ?? raw), null, 2);
  } catch {
    return raw;
  }
}
