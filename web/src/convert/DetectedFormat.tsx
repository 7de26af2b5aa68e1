import type { FormatInfo, Inspection } from "../api/convert";
import { bytes, count, plural } from "../ui/format";
import styles from "./DetectedFormat.module.css";

/** Logs of agents that are read from files. They are not in the list of formats. */
const LOGS: Readonly<Record<string, string>> = {
  "codex-rollout": "Codex session files",
  "gemini-cli": "Gemini CLI sessions",
  "opencode-export": "OpenCode exports",
  "opencode-parts": "OpenCode parts",
};
const SHAPES = {
  document: "one JSON document",
  lines: "JSON lines",
  events: "server-sent events",
  "data-stream-v4": "lines of a v4 stream",
  text: "text",
} as const;
const VALUES = { messages: "message", stream: "event", log: "record" } as const;

interface Props {
  readonly inspection: Inspection;
  readonly formats: readonly FormatInfo[];
  readonly from: string | null;
  readonly onFrom: (from: string | null) => void;
}

/** The detected format with confidence and reason, and a selector to override it. */
export function DetectedFormat({ inspection, formats, from, onFrom }: Props) {
  const titles = new Map(formats.map((format) => [format.name, format.title]));
  const titleOf = (name: string) => titles.get(name) ?? LOGS[name] ?? name;
  const best = inspection.guesses[0];
  const others = best?.rivals ?? [];
  const readable = [
    ...formats.filter((format) => format.reads || format.streams).map((format) => format.name),
    ...Object.keys(LOGS).filter((name) => !titles.has(name)),
  ];
  return (
    <div className={styles.box}>
      <div className={styles.text}>
        <p className={styles.format}>{inspection.from ? titleOf(inspection.from) : "Not recognised"}</p>
        <p className={styles.details}>
          {from ? "selected" : best ? `${Math.round(best.confidence * 100)}% sure: ${best.why}` : null}
          {inspection.shape && (
            <>
              {" "}
              · {SHAPES[inspection.shape]}
              {inspection.kind && `, ${plural(inspection.values ?? 0, VALUES[inspection.kind])}`}
            </>
          )}
          {" · "}
          {bytes(inspection.bytes)}
        </p>
        {!from && others.length > 0 && (
          <p className={styles.others}>
            Other candidates:{" "}
            {others.slice(0, 3).map((guess, index) => (
              <span key={guess.format}>
                {index > 0 && ", "}
                <button type="button" title={guess.why} onClick={() => onFrom(guess.format)}>
                  {titleOf(guess.format)}
                </button>{" "}
                ({count(Math.round(guess.confidence * 100))} %)
              </span>
            ))}
          </p>
        )}
      </div>
      <label className={styles.choice}>
        Read as
        <select value={from ?? ""} onChange={(event) => onFrom(event.target.value || null)}>
          <option value="">detected format</option>
          {readable.map((name) => (
            <option key={name} value={name}>
              {titleOf(name)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
