import styles from "./SectionLinks.module.css";
import { type SectionName, SHORT } from "./sections";
import { hrefWith } from "./selection";

/** The navigation in the page. */
export function SectionLinks({ query }: { query: URLSearchParams }) {
  const current = query.get("chart");
  const again = (name: SectionName) => {
    if (current !== name) return;
    document.querySelector(`[data-section="${name}"]`)?.scrollIntoView({ block: "start" });
  };
  return (
    <nav className={styles.links} aria-label="Sections of analytics">
      {(Object.keys(SHORT) as SectionName[]).map((name) => (
        <a
          key={name}
          href={hrefWith(query, { chart: name })}
          aria-current={current === name ? "location" : undefined}
          onClick={() => again(name)}
        >
          {SHORT[name]}
        </a>
      ))}
    </nav>
  );
}
