import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import type { FormatInfo, Inspection } from "../api/convert";
import { Transcript } from "../reader/Transcript";
import { JsonTree } from "../tools/JsonTree";
import { stringify } from "../tools/json";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { downloadFile } from "../ui/download";
import { count } from "../ui/format";
import { Tabs } from "../ui/Tabs";
import { Findings } from "./Findings";
import { type Finding, marksOf } from "./findings";
import { Positions } from "./positions";
import styles from "./Results.module.css";
import { SourceView } from "./SourceView";

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

/** The conversation, the canonical messages, the conversion and the losses. */
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
      {tab === "conversation" && <Transcript messages={messages} label="Conversation" />}
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
    const losses = findings.filter((one) => one.side === "writing").slice(0, 2000);
    return marksOf(
      losses.flatMap((one) => {
        const range = positions.locate(one.path);
        return range ? [{ ...one, ranges: [range] }] : [];
      }),
    );
  }, [asText, text, findings]);
  return (
    <>
      <div className={styles.bar}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <span role="group" aria-label="View" className={styles.choices}>
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
        <CopyAndDownload value={inspection.messages} name="messages" what="canonical messages" />
      </div>
      {asText ? (
        <SourceView text={text} label="Canonical messages" marks={marks} chosen={chosen} />
      ) : (
        <div className={styles.tree}>
          <JsonTree value={inspection.messages} label="Canonical messages" />
        </div>
      )}
    </>
  );
}

function Target({ inspection, formats, to, onTo, carry, onCarry }: Props) {
  const text = useMemo(() => stringify(inspection.payload ?? null, 2), [inspection.payload]);
  const canCarry = formats.some((format) => format.name === to && format.carries);
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
            canCarry
              ? "Embed in the metadata what the format cannot represent"
              : "This format cannot embed other data"
          }
        >
          <input
            type="checkbox"
            checked={carry && canCarry}
            disabled={!canCarry}
            onChange={(event) => onCarry(event.target.checked)}
          />
          Embed what is lost
        </label>
        <CopyAndDownload value={inspection.payload} name={inspection.to ?? to} what="result" />
      </div>
      {inspection.payload === undefined ? (
        <p className={styles.none}>The messages cannot be converted to this format.</p>
      ) : (
        <SourceView text={text} label="Result" />
      )}
    </>
  );
}

/** The file name for a format. Some formats are text. */
const fileName = (name: string, value: unknown): string =>
  typeof value !== "string" ? `${name}.json` : name === "markdown" ? `${name}.md` : `${name}.txt`;

function CopyAndDownload({ value, name, what }: { value: unknown; name: string; what: string }) {
  const type = typeof value === "string" ? "text/plain" : "application/json";
  return (
    <span className={styles.actions}>
      <CopyButton text={() => stringify(value, 2)} label={`Copy ${what}`} />
      <IconButton
        label={`Download ${what}`}
        onClick={() => downloadFile(fileName(name, value), new Blob([stringify(value, 2)], { type }))}
      >
        <Download size={14} />
      </IconButton>
    </span>
  );
}
