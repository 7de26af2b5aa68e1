import type { Fact } from "../api/runs";
import styles from "./Facts.module.css";
import { change, fact } from "./shown";

/** What is known of each run; what differs is marked. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
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
              <th scope="row">{name}</th>
              <td>{fact(name, a)}</td>
              <td>{fact(name, b)}</td>
              <td>{a === b ? "" : change(name, a, b) || "≠ differs"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
