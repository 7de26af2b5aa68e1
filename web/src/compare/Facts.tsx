import type { Fact } from "../api/runs";
import styles from "./Facts.module.css";
import { formatChange, formatFact } from "./format";

/** The facts of both runs; differences are marked. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.box} aria-label="Facts of the two runs" tabIndex={0}>
      <table className={styles.facts}>
        <caption className="visually-hidden">Facts of the two runs</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Fact</span>
            </th>
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ name, a, b }) => (
            <tr key={name} data-differs={a !== b}>
              <th scope="row">{name.replace(" (s)", "")}</th>
              <td>{formatFact(name, a)}</td>
              <td>{formatFact(name, b)}</td>
              <td>{a === b ? "" : formatChange(name, a, b) || "≠ differs"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
