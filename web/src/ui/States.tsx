import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { Button } from "./Button";
import styles from "./States.module.css";

/** An empty state, with a hint. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}

/** An error: what happened, where, and what to do. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof Problem ? error : undefined;
  return (
    <div className={styles.state} role="alert">
      <p className={styles.title}>{error instanceof Error ? error.message : String(error)}</p>
      {problem?.where && <p>at {problem.where}</p>}
      {problem?.hint && <p>{problem.hint}</p>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** A loading indicator. It appears after a delay, so that it does not flicker. */
export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div className={`${styles.state} ${styles.loading}`} role="status">
      {what} …
    </div>
  );
}
