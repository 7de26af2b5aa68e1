import { createContext, useContext } from "react";
import { useRenderContext } from "../context/renderContext";
import { commitUrlAt, fileAt, useSessionFacts } from "../context/sessionFacts";
import { EditorLink } from "../ui/EditorLink";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import styles from "./Markdown.module.css";

/** The text of a link: no other links are in it. */
export const InLink = createContext(false);

/** Code in a text. A file of the session opens in the editor, and a commit on its page. */
export function CodeSpan({ text }: { text: string }) {
  const { folder } = useRenderContext();
  const facts = useSessionFacts();
  const isInLink = useContext(InLink);
  const code = <code className={styles.span}>{visible(text)}</code>;
  if (isInLink) return code;
  const file = fileAt(text, facts);
  if (file)
    return (
      <EditorLink path={file.path} line={file.line} folder={folder} className={styles.place} isNamed>
        {code}
      </EditorLink>
    );
  const commit = commitUrlAt(text, facts);
  const href = commit && safeHref(commit);
  return href ? (
    <a className={styles.place} href={href} title={visible(href)} {...EXTERNAL_LINK}>
      {code}
    </a>
  ) : (
    code
  );
}
