import type { ReactNode } from "react";
import styles from "./Section.module.css";

/** A section of a card. Its buttons are beside its title; without a title they are above its corner. */
export function Section({
  title,
  aside,
  children,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={styles.section}>
      {title ? (
        <div className={styles.head}>
          <span className={styles.title}>{title}</span>
          {aside}
        </div>
      ) : (
        aside && <div className={styles.corner}>{aside}</div>
      )}
      {children}
    </div>
  );
}
