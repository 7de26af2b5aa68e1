import { useState } from "react";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./Findings.module.css";
import { countByKind, type Finding, type FindingKind, kindOf } from "./findings";

const PAGE = 200;
const NAMES: Readonly<Record<FindingKind, string>> = {
  lost: "Lost",
  changed: "Changed",
  repaired: "Repaired",
  minor: "Minor",
  noted: "Noted",
};
const MEANINGS: Readonly<Record<FindingKind, string>> = {
  lost: "The value is lost.",
  changed: "The value is kept in another form.",
  repaired: "Something was added, moved or renamed because the format requires it.",
  minor: "The value is lost, but it does not matter for reading the messages.",
  noted: "The input was skipped or not recognised.",
};

interface Props {
  readonly findings: readonly Finding[];
  readonly chosen: string | null;
  readonly onChoose: (finding: Finding) => void;
}

/** The losses, notes and errors. A click scrolls to the position in the text. */
export function Findings({ findings, chosen, onChoose }: Props) {
  const [limit, setLimit] = useState(PAGE);
  const [hidden, setHidden] = useState<ReadonlySet<FindingKind>>(new Set());
  if (!findings.length) return <p className={styles.none}>No losses: everything is kept.</p>;
  const kinds = countByKind(findings);
  const shown = findings.filter((finding) => !hidden.has(kindOf(finding)) || finding.id === chosen);
  const toggle = (kind: FindingKind) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  return (
    <div className={styles.box}>
      {kinds.length > 1 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
        <div role="group" aria-label="Kinds to show" className={styles.kinds}>
          {kinds.map(([kind, number]) => (
            <Button
              key={kind}
              small
              kind={hidden.has(kind) ? "quiet" : "plain"}
              aria-pressed={!hidden.has(kind)}
              title={MEANINGS[kind]}
              onClick={() => toggle(kind)}
            >
              {NAMES[kind]} ({count(number)})
            </Button>
          ))}
        </div>
      )}
      <ul className={styles.list}>
        {shown.slice(0, limit).map((finding) => (
          <li key={finding.id}>
            <button
              type="button"
              className={styles.finding}
              data-tone={finding.tone}
              data-severity={kindOf(finding)}
              aria-pressed={finding.id === chosen}
              onClick={() => onChoose(finding)}
            >
              <span className={styles.kind}>
                <span className={styles.badge} title={MEANINGS[kindOf(finding)]}>
                  {finding.tone === "error" ? "Error" : NAMES[kindOf(finding)]}
                </span>{" "}
                {finding.tone === "loss" && `in ${finding.side}`}
              </span>
              {finding.path && <code className={styles.path}>{visible(finding.path)}</code>}
              <span className={styles.what}>{visible(finding.what)}</span>
              {finding.why && <span className={styles.why}>{visible(finding.why)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {shown.length > limit && (
        <Button small onClick={() => setLimit(limit + PAGE)}>
          Show more ({count(shown.length - limit)} left)
        </Button>
      )}
    </div>
  );
}
