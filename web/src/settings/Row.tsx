import type { ReactNode } from "react";
import styles from "./Row.module.css";

interface Props {
  readonly label: string;
  /** The id of the control, if it is a single one. */
  readonly control?: string;
  readonly about?: ReactNode;
  readonly error?: string;
  readonly children: ReactNode;
}

/** A setting: its name, what it does, its control, and what is wrong with the value. */
export function Row({ label, control, about, error, children }: Props) {
  return (
    <div className={styles.row}>
      <div className={styles.text}>
        {control ? (
          <label htmlFor={control} className={styles.label}>
            {label}
          </label>
        ) : (
          <span className={styles.label}>{label}</span>
        )}
        {about && (
          <div className={styles.about} id={control && `${control}-about`}>
            {about}
          </div>
        )}
      </div>
      <div className={styles.control}>
        {children}
        {error && (
          <p role="alert" className={styles.error} id={control && `${control}-error`}>
            {error}
          </p>
        )}
      </div>
    </div>
  );
}
