import { FileText, Globe } from "lucide-react";
import type { SourceDocumentPart, SourceUrlPart } from "../partita.gen";
import { OUTWARD, safeHref, visible } from "../ui/hostile";
import type { PartProps } from "./PartView";
import styles from "./SourceView.module.css";

/** What an answer rests on. Nothing of it is fetched before somebody goes there. */
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
  const words = (
    <>
      <Globe size={13} aria-hidden />
      <span className={styles.title}>{visible(part.title || host || part.url)}</span>
      {host && part.title && <span className={styles.where}>{host}</span>}
    </>
  );
  return href ? (
    <a className={styles.chip} href={href} title={visible(href)} {...OUTWARD}>
      {words}
    </a>
  ) : (
    <span className={styles.chip} title={visible(part.url)}>
      {words}
    </span>
  );
}
