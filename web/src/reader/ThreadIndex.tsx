import { moment, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import type { IndexEntry } from "./data";
import styles from "./ThreadIndex.module.css";

export const UNTITLED = "A conversation";
export const FOOT = "Shared with Partita. This file is complete and loads nothing from the network.";

/** The threads of a file, each with a link. */
export function ThreadIndex({ entries }: { entries: readonly IndexEntry[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.box} aria-label="Sessions" tabIndex={0}>
      <div className={styles.measure}>
        <header className={styles.head}>
          <h1>{plural(entries.length, "session")}</h1>
          <p className={styles.foot}>{FOOT}</p>
        </header>
        <ol className={styles.list}>
          {entries.map(({ thread, messages, element }) => (
            <li key={element}>
              <a className={styles.entry} href={`#${element}`}>
                <span className={styles.title}>{visible(thread.title || UNTITLED)}</span>
                <span className={styles.about}>
                  {[
                    thread.agent && visible(thread.agent),
                    thread.createdAt && moment(thread.createdAt),
                    plural(messages, "message"),
                    thread.project && visible(thread.project),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </a>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
