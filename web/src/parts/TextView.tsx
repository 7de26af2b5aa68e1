import { Markdown } from "../markdown/Markdown";
import type { Citation, TextPart } from "../partita.gen";
import { OUTWARD, safeHref, visible } from "../ui/hostile";
import { useViewing } from "../viewing/viewing";
import type { PartProps } from "./PartView";
import styles from "./TextView.module.css";

/** Words, and the sources that they rest on. */
export function TextView({ part, speaker, last }: PartProps<TextPart>) {
  const { live } = useViewing();
  const isComing = part.state === "streaming" || (live && last === true && part.state !== "done");
  return (
    <div className={styles.text} data-live={isComing}>
      <Markdown text={part.text} live={isComing} breaks={speaker === "user"} />
      {part.citations && part.citations.length > 0 && <Citations citations={part.citations} />}
    </div>
  );
}

function Citations({ citations }: { citations: readonly Citation[] }) {
  return (
    <ol className={styles.citations} aria-label="Cited sources">
      {sourcesOf(citations).map(({ source, citedText }, index) => {
        const href = source.sourceType === "url" ? safeHref(source.url) : null;
        const name = source.title || (href ? new URL(href).host : source.id);
        const words = (
          <>
            <span className={styles.number}>{index + 1}</span> {visible(name)}
          </>
        );
        const said = citedText ? visible(citedText.slice(0, 500)) : undefined;
        return (
          <li key={source.id || index}>
            {href ? (
              <a href={href} title={said ?? visible(href)} {...OUTWARD}>
                {words}
              </a>
            ) : (
              <span title={said}>{words}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Every source once, in the order they are cited. */
export function sourcesOf(citations: readonly Citation[]): readonly Citation[] {
  const found = new Map<string, Citation>();
  for (const citation of citations) {
    const { source } = citation;
    const key = source.sourceType === "url" ? source.url : source.id;
    if (!found.has(key)) found.set(key, citation);
  }
  return [...found.values()];
}
