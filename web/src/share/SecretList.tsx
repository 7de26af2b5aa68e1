import { useState } from "react";
import type { SecretFinding } from "../api/share";
import { Button } from "../ui/Button";
import { count, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./SecretList.module.css";

const PAGE = 50;

interface Props {
  readonly findings: readonly SecretFinding[];
  /** The ids of findings that are not redacted. The preview of the server may not reflect the last change yet. */
  readonly keep: readonly string[];
  readonly onKeep: (id: string, isKept: boolean) => void;
}

/** The secrets that were found. Each is redacted unless the user clears its checkbox. */
export function SecretList({ findings, keep, onKeep }: Props) {
  const [limit, setLimit] = useState(PAGE);
  return (
    <section className={styles.findings} aria-label="Secrets found">
      <h3>{findings.length ? plural(findings.length, "secret") : "No secrets"} found</h3>
      <ul>
        {findings.slice(0, limit).map((finding) => (
          <li key={finding.id}>
            <label className={styles.finding} data-kept={keep.includes(finding.id)}>
              <input
                type="checkbox"
                checked={!keep.includes(finding.id)}
                onChange={(event) => onKeep(finding.id, !event.target.checked)}
              />
              <span className={styles.text}>
                <code>{visible(finding.preview)}</code>
                <span>{keep.includes(finding.id) ? "not redacted" : finding.mark}</span>
                <span className={styles.places} title={finding.places.join("\n")}>
                  {plural(finding.times, "place")}, first {visible(finding.places[0] ?? "")}
                </span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {findings.length > limit && (
        <Button small onClick={() => setLimit(limit + PAGE)}>
          Show more ({count(findings.length - limit)} left)
        </Button>
      )}
    </section>
  );
}
