import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import type { FormatInfo, Inspection } from "../api/convert";
import { Transcript } from "../reader/Transcript";
import { JsonTree } from "../tools/JsonTree";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { count } from "../ui/format";
import { save } from "../ui/saving";
import { Findings } from "./Findings";
import { type Finding, marksOf } from "./findings";
import { Lines } from "./Lines";
import { Positions } from "./positions";
import styles from "./Results.module.css";
import { Tabs } from "./Tabs";

export type ResultTab = "conversation" | "canonical" | "target" | "losses";

interface Props {
  readonly inspection: Inspection;
  readonly findings: readonly Finding[];
  readonly formats: readonly FormatInfo[];
  readonly to: string;
  readonly onTo: (to: string) => void;
  readonly carry: boolean;
  readonly onCarry: (carry: boolean) => void;
  readonly tab: ResultTab;
  readonly onTab: (tab: ResultTab) => void;
  readonly chosen: { readonly id: string } | null;
  readonly onChoose: (finding: Finding) => void;
}

/** What became of a text: drawn, canonical, in another format, and what was lost. */
export function Results(props: Props) {
  const { inspection, findings, tab, onTab } = props;
  const messages = inspection.messages ?? [];
  const tabs = [
    { name: "conversation", label: `Conversation (${count(messages.length)})` },
    { name: "canonical", label: "Canonical" },
    { name: "target", label: "Target format" },
    {
      name: "losses",
      label: `Losses (${count(Math.max(findings.length, inspection.lost ?? 0))})`,
    },
  ] as const;
  return (
    <Tabs tabs={tabs} chosen={tab} onChoose={onTab} label="Results">
      {tab === "conversation" && <Transcript messages={messages} label="The conversation" />}
      {tab === "canonical" && <Canonical {...props} />}
      {tab === "target" && <Target {...props} />}
      {tab === "losses" && (
        <Findings findings={findings} chosen={props.chosen?.id ?? null} onChoose={props.onChoose} />
      )}
    </Tabs>
  );
}

function Canonical({ inspection, findings, chosen }: Props) {
  const [asText, setText] = useState(findings.some((one) => one.id === chosen?.id && one.side === "writing"));
  const text = useMemo(
    () => (asText ? JSON.stringify(inspection.messages, null, 2) : ""),
    [asText, inspection.messages],
  );
  const marks = useMemo(() => {
    if (!asText) return [];
    const positions = new Positions(text, "document");
    const written = findings.filter((one) => one.side === "writing").slice(0, 2000);
    return marksOf(
      written.flatMap((one) => {
        const range = positions.locate(one.path);
        return range ? [{ ...one, ranges: [range] }] : [];
      }),
    );
  }, [asText, text, findings]);
  return (
    <>
      <div className={styles.bar}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <span role="group" aria-label="How to show it" className={styles.choices}>
          <Button
            small
            kind={asText ? "quiet" : "plain"}
            aria-pressed={!asText}
            onClick={() => setText(false)}
          >
            Tree
          </Button>
          <Button small kind={asText ? "plain" : "quiet"} aria-pressed={asText} onClick={() => setText(true)}>
            JSON
          </Button>
        </span>
        <Taking value={inspection.messages} name="messages" what="the canonical messages" />
      </div>
      {asText ? (
        <Lines text={text} label="Canonical messages" marks={marks} chosen={chosen} />
      ) : (
        <div className={styles.tree}>
          <JsonTree value={inspection.messages} label="Canonical messages" />
        </div>
      )}
    </>
  );
}

function Target({ inspection, formats, to, onTo, carry, onCarry }: Props) {
  const text = useMemo(() => written(inspection.payload ?? null), [inspection.payload]);
  const hasRoom = formats.some((format) => format.name === to && format.carries);
  return (
    <>
      <div className={styles.bar}>
        <label className={styles.target}>
          Write as
          <select value={to} onChange={(event) => onTo(event.target.value)}>
            {formats
              .filter((format) => format.writes)
              .map((format) => (
                <option key={format.name} value={format.name}>
                  {format.title}
                </option>
              ))}
          </select>
        </label>
        <label
          className={styles.carry}
          title={
            hasRoom
              ? "What the format has no place for goes along in its metadata"
              : "This format has no room for more than it knows"
          }
        >
          <input
            type="checkbox"
            checked={carry && hasRoom}
            disabled={!hasRoom}
            onChange={(event) => onCarry(event.target.checked)}
          />
          Carry the rest
        </label>
        <Taking value={inspection.payload} name={inspection.to ?? to} what="the result" />
      </div>
      {inspection.payload === undefined ? (
        <p className={styles.none}>It could not be written.</p>
      ) : (
        <Lines text={text} label="The result" />
      )}
    </>
  );
}

/** JSON, or a text as it is: some formats are one. */
const written = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

/** The name of a file of that format. */
const fileName = (name: string, value: unknown): string =>
  typeof value !== "string" ? `${name}.json` : name === "markdown" ? `${name}.md` : `${name}.txt`;

function Taking({ value, name, what }: { value: unknown; name: string; what: string }) {
  const type = typeof value === "string" ? "text/plain" : "application/json";
  return (
    <span className={styles.taking}>
      <CopyButton text={() => written(value)} label={`Copy ${what}`} />
      <IconButton
        label={`Download ${what}`}
        onClick={() => save(fileName(name, value), new Blob([written(value)], { type }))}
      >
        <Download size={14} />
      </IconButton>
    </span>
  );
}
