import { useState } from "react";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./Findings.module.css";
import type { Finding } from "./findings";

const PAGE = 200;
const NAMES = { loss: "Lost", note: "Noted", error: "Wrong" } as const;

interface Props {
  readonly findings: readonly Finding[];
  readonly chosen: string | null;
  readonly onChoose: (finding: Finding) => void;
}

/** What was lost, and what was noted. Pressed, its place comes into sight. */
export function Findings({ findings, chosen, onChoose }: Props) {
  const [limit, setLimit] = useState(PAGE);
  if (!findings.length) return <p className={styles.none}>Nothing is lost: everything was carried.</p>;
  return (
    <div className={styles.box}>
      <ul className={styles.list}>
        {findings.slice(0, limit).map((finding) => (
          <li key={finding.id}>
            <button
              type="button"
              className={styles.finding}
              data-tone={finding.tone}
              aria-pressed={finding.id === chosen}
              onClick={() => onChoose(finding)}
            >
              <span className={styles.kind}>
                {NAMES[finding.tone]} {finding.tone === "loss" && `in ${finding.side}`}
              </span>
              {finding.path && <code className={styles.path}>{visible(finding.path)}</code>}
              <span className={styles.what}>{visible(finding.what)}</span>
              {finding.why && <span className={styles.why}>{visible(finding.why)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {findings.length > limit && (
        <Button small onClick={() => setLimit(limit + PAGE)}>
          Show more ({count(findings.length - limit)} left)
        </Button>
      )}
    </div>
  );
}
