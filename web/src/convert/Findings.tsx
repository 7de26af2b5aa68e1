import { useState } from "react";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./Findings.module.css";
import { type Finding, type Sort, sortOf, sortsOf } from "./findings";

const PAGE = 200;
const NAMES: Readonly<Record<Sort, string>> = {
  lost: "Lost",
  changed: "Changed",
  repaired: "Repaired",
  minor: "Minor",
  noted: "Noted",
};
const MEANINGS: Readonly<Record<Sort, string>> = {
  lost: "It is gone.",
  changed: "It is there in another form.",
  repaired: "Something was added, moved or renamed because the format insists on it.",
  minor: "It is gone, and nobody who reads the messages will miss it.",
  noted: "It was passed over, or not understood.",
};

interface Props {
  readonly findings: readonly Finding[];
  readonly chosen: string | null;
  readonly onChoose: (finding: Finding) => void;
}

/** What was lost, and what was noted. Pressed, its place comes into sight. */
export function Findings({ findings, chosen, onChoose }: Props) {
  const [limit, setLimit] = useState(PAGE);
  const [hidden, setHidden] = useState<ReadonlySet<Sort>>(new Set());
  if (!findings.length) return <p className={styles.none}>Nothing is lost: everything was carried.</p>;
  const sorts = sortsOf(findings);
  const shown = findings.filter((finding) => !hidden.has(sortOf(finding)) || finding.id === chosen);
  const toggle = (sort: Sort) => {
    const next = new Set(hidden);
    if (!next.delete(sort)) next.add(sort);
    setHidden(next);
  };
  return (
    <div className={styles.box}>
      {sorts.length > 1 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
        <div role="group" aria-label="Which ones to show" className={styles.sorts}>
          {sorts.map(([sort, number]) => (
            <Button
              key={sort}
              small
              kind={hidden.has(sort) ? "quiet" : "plain"}
              aria-pressed={!hidden.has(sort)}
              title={MEANINGS[sort]}
              onClick={() => toggle(sort)}
            >
              {NAMES[sort]} ({count(number)})
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
              data-sort={sortOf(finding)}
              aria-pressed={finding.id === chosen}
              onClick={() => onChoose(finding)}
            >
              <span className={styles.kind}>
                <span className={styles.badge} title={MEANINGS[sortOf(finding)]}>
                  {finding.tone === "error" ? "Wrong" : NAMES[sortOf(finding)]}
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
