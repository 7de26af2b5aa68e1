import type { ReactNode } from "react";
import { useRenderContext } from "../context/renderContext";
import { fileAt, useSessionFacts } from "../context/sessionFacts";
import { EditorLink } from "../ui/EditorLink";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import { InLink } from "./CodeSpan";
import { decodeEntities } from "./entities";
import styles from "./Markdown.module.css";

interface Props {
  readonly href: string;
  readonly text: string;
  readonly children: ReactNode;
}

/**
 * A link to a web or mail address, or to a file of the session, which opens in the editor. Other links are displayed
 * as text with their target.
 */
export function Link({ href, text, children }: Props) {
  const { folder } = useRenderContext();
  const facts = useSessionFacts();
  const safe = safeHref(href);
  const file = safe === null ? fileAt(decoded(href), facts) : null;
  if (file)
    return (
      <EditorLink path={file.path} line={file.line} folder={folder} className={styles.place} isNamed>
        <InLink.Provider value={true}>{children}</InLink.Provider>
      </EditorLink>
    );
  if (safe === null) {
    const isPath = PATH.test(decoded(href)) && !href.includes("..");
    return (
      <span className={styles.dead} title={visible(href)}>
        {children}
        {!isPath && href !== text && <code className={styles.span}>{visible(shortened(href))}</code>}
      </span>
    );
  }
  const host = hiddenHost(safe, text);
  return (
    <a href={safe} title={visible(safe)} {...EXTERNAL_LINK}>
      <InLink.Provider value={true}>{children}</InLink.Provider>
      {host && <span className={styles.host}> ({host})</span>}
    </a>
  );
}

/** The path of a file, possibly with a line: `src/oven.py:12`, `C:\\bread\\oven.py`, `oven.py#L3-L9`. */
const PATH = /^(?:file:\/\/)?(?:[a-z]:[\\/])?(?=[^:]*(?:$|[./\\]))[\w ./\\#~@+()-]*(?::\d+(?:[:-]\d+)?)?$/i;

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href; // a percent sign in a name
  }
}

const shortened = (href: string): string => (href.length > 80 ? `${href.slice(0, 80)}…` : href);

const HOST_IN_TEXT =
  /^(?:https?:\/\/((?:[\w-]+\.)+[a-z]{2,})|((?:[\w-]+\.)+(?:com|org|net|gov|edu|io|dev|ai)))(?:[/:?#]|$)/i;

/** The host of a link whose text names another host; else null. */
export function hiddenHost(href: string, text: string): string | null {
  const found = HOST_IN_TEXT.exec(decodeEntities(text).trim());
  const named = found?.[1] ?? found?.[2];
  if (!named || !/^https?:/.test(href)) return null;
  const { host } = new URL(href);
  return normalized(named) === normalized(host) ? null : host;
}

const normalized = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^www\./, "")
    .replace(/:\d+$/, "");
