import { type ReactNode, useId } from "react";
import styles from "./Home.module.css";

interface Props {
  readonly title: string;
  readonly more?: ReactNode;
  readonly children: ReactNode;
}

/** A section of Home with its title, and a link to more. */
export function Section({ title, more, children }: Props) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <header className={styles.head}>
        <h2 id={id}>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}
