import { shortProject } from "../../threads/rows";
import styles from "./Legend.module.css";
import { colourOf } from "./Patterns";
import type { Entry } from "./png";

interface Props {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly lines?: boolean;
  /** The name of the line over the columns. */
  readonly average?: string;
}

/** The names of the series with their colours. */
export function Legend({ name, entries, lines = false, average }: Props) {
  return (
    <ul className={styles.legend} aria-label={`Legend of ${name}`}>
      {entries.map((entry) => (
        <li key={entry.name} title={entry.name}>
          <Swatch colour={entry.colour} line={lines} />
          <span>{shortProject(entry.name)}</span>
        </li>
      ))}
      {average && <li className={styles.average}>{average}</li>}
    </ul>
  );
}

/** The colour of a series. */
export function Swatch({ colour, line = false }: { colour: number; line?: boolean }) {
  return (
    <svg className={styles.swatch} width={line ? 16 : 10} height={10} aria-hidden>
      <rect
        width={line ? 16 : 10}
        height={line ? 3 : 10}
        y={line ? 3.5 : 0}
        rx={line ? 1.5 : 2.5}
        fill={colourOf(colour)}
      />
    </svg>
  );
}
