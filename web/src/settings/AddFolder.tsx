import { type FormEvent, useId, useState } from "react";
import { Problem } from "../api/client";
import { Button } from "../ui/Button";
import styles from "./fields.module.css";

interface Props {
  /** Adds a folder. An error is shown at the field. */
  readonly onAdd: (folder: string) => Promise<unknown>;
  readonly isPending: boolean;
}

/** The field for another folder with sessions. */
export function AddFolder({ onAdd, isPending }: Props) {
  const id = useId();
  const [folder, setFolder] = useState("");
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!folder.trim()) return;
    try {
      await onAdd(folder.trim());
      setFolder("");
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Folder</label>
      <div className={styles.line}>
        <input
          id={id}
          className={styles.field}
          placeholder="~/old-sessions"
          spellCheck={false}
          autoComplete="off"
          value={folder}
          aria-invalid={error !== null}
          aria-describedby={error ? `${id}-error` : undefined}
          onChange={(event) => setFolder(event.target.value)}
        />
        <Button type="submit" disabled={!folder.trim() || isPending}>
          Add
        </Button>
      </div>
      {error !== null && (
        <p role="alert" id={`${id}-error`} className={styles.error}>
          {textOf(error)}
        </p>
      )}
    </form>
  );
}

/** What is wrong, and how to fix it. */
export const textOf = (error: unknown): string =>
  [error instanceof Error ? error.message : String(error), error instanceof Problem ? error.hint : null]
    .filter(Boolean)
    .join(": ");
