import type { ReactNode } from "react";
import styles from "./Section.module.css";

/** A titled section of a card, with buttons beside the title. */
export function Section({
  title,
  aside,
  children,
}: {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={styles.section}>
      <div className={styles.head}>
        <span className={styles.title}>{title}</span>
        {aside}
      </div>
      {children}
    </div>
  );
}
