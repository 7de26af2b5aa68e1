import { type ReactNode, useRef } from "react";
import styles from "./Section.module.css";
import { type SectionName, TITLES, useTarget } from "./sections";

interface Props {
  readonly name: SectionName;
  /** The section in the address, to which the page scrolls. */
  readonly target: string | null;
  readonly controls?: ReactNode;
  /** Its heading is not visible, because its first card has one. */
  readonly hideHeading?: boolean;
  readonly children: ReactNode;
}

/** A section with a heading, to which the address can lead. */
export function Section({ name, target, controls, hideHeading, children }: Props) {
  const section = useRef<HTMLElement>(null);
  const isTarget = target === name;
  useTarget(section, isTarget);
  return (
    <section
      ref={section}
      className={styles.section}
      data-section={name}
      data-target={isTarget || undefined}
      aria-labelledby={`analytics-${name}`}
    >
      <div className={hideHeading ? "visually-hidden" : styles.head}>
        <h2 id={`analytics-${name}`} tabIndex={-1}>
          {TITLES[name]}
        </h2>
        {controls}
      </div>
      {children}
    </section>
  );
}
