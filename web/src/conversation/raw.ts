/** A record of a log as text. */
import type { RawRecord } from "../api/messages";

/** Laid out to be read, or byte for byte. */
export type RawForm = "pretty" | "bytes";

/** Longer ones are not laid out: it would take longer than anybody waits. */
const MOST_LAID_OUT = 2_000_000;

export function rawText(record: RawRecord, form: RawForm): string {
  const { raw, encoding, chunk } = record;
  if (raw === undefined) return JSON.stringify(chunk, null, form === "pretty" ? 2 : undefined) ?? "";
  return form === "bytes" || encoding === "base64" ? raw : laidOut(raw);
}

/** JSON in lines; of a server-sent event, the JSON behind `data:`. */
function laidOut(raw: string): string {
  if (raw.length > MOST_LAID_OUT) return raw;
  const event = /^data: ?([[{][^\n]*)\s*$/m.exec(raw);
  try {
    return JSON.stringify(JSON.parse(event?.[1] ?? raw), null, 2);
  } catch {
    return raw;
  }
}
