import { useRenderContext } from "../context/renderContext";
import { promptOf } from "../context/toolViews";
import type { Citation, TextPart } from "../partita.gen";
import { AddedText } from "../tools/AddedText";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import { LongProse } from "./LongProse";
import type { PartProps } from "./PartView";
import styles from "./TextView.module.css";

/** A text with its citations. What an editor or an agent added to a prompt is collapsed below it. */
export function TextView({ part, messageRole, last }: PartProps<TextPart>) {
  const { live } = useRenderContext();
  const prompt = promptOf(part);
  const isUser = messageRole === "user";
  const isStreaming = part.state === "streaming" || (live && last === true && part.state !== "done");
  return (
    <div className={styles.text} data-live={isStreaming}>
      <LongProse
        text={prompt ? prompt.text : part.text}
        label={isUser ? "Prompt" : "Text"}
        size={isUser ? "medium" : "large"}
        live={isStreaming}
        breaks={isUser}
      />
      {prompt?.added?.map((notice, index) => (
        <AddedText key={index} notice={notice} />
      ))}
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
        const label = (
          <>
            <span className={styles.number}>{index + 1}</span> {visible(name)}
          </>
        );
        const quote = citedText ? visible(citedText.slice(0, 500)) : undefined;
        return (
          <li key={source.id || index}>
            {href ? (
              <a href={href} title={quote ?? visible(href)} {...EXTERNAL_LINK}>
                {label}
              </a>
            ) : (
              <span title={quote}>{label}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** The cited sources in order, without duplicates. */
function sourcesOf(citations: readonly Citation[]): readonly Citation[] {
  const found = new Map<string, Citation>();
  for (const citation of citations) {
    const { source } = citation;
    const key = source.sourceType === "url" ? source.url : source.id;
    if (!found.has(key)) found.set(key, citation);
  }
  return [...found.values()];
}
