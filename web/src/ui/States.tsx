import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { Button } from "./Button";
import styles from "./States.module.css";

/** There is nothing to show, and what one can do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}

/** Something went wrong: what, where, what to do. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const told = error instanceof Problem ? error : undefined;
  return (
    <div className={styles.state} role="alert">
      <p className={styles.title}>{error instanceof Error ? error.message : String(error)}</p>
      {told?.where && <p>at {told.where}</p>}
      {told?.hint && <p>{told.hint}</p>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** It is coming. Said after a moment, lest it flickers. */
export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div className={`${styles.state} ${styles.loading}`} role="status">
      {what} …
    </div>
  );
}
