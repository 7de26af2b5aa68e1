import { FileText, Globe } from "lucide-react";
import type { SourceDocumentPart, SourceUrlPart } from "../partita.gen";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import type { PartProps } from "./PartView";
import styles from "./SourceView.module.css";

/** A source of the response. Nothing is loaded from it before the user follows the link. */
export function SourceView({ part }: PartProps<SourceUrlPart | SourceDocumentPart>) {
  if (part.type === "source-document")
    return (
      <span className={styles.chip} title={visible(part.mediaType)}>
        <FileText size={13} aria-hidden />
        <span className={styles.title}>{visible(part.title || part.filename || "Document")}</span>
        {part.filename && part.filename !== part.title && (
          <span className={styles.where}>{visible(part.filename)}</span>
        )}
      </span>
    );
  const href = safeHref(part.url);
  const host = href ? new URL(href).host.replace(/^www\./, "") : null;
  const content = (
    <>
      <Globe size={13} aria-hidden />
      <span className={styles.title}>{visible(part.title || host || part.url)}</span>
      {host && part.title && <span className={styles.where}>{host}</span>}
    </>
  );
  return href ? (
    <a className={styles.chip} href={href} title={visible(href)} {...EXTERNAL_LINK}>
      {content}
    </a>
  ) : (
    <span className={styles.chip} title={visible(part.url)}>
      {content}
    </span>
  );
}
