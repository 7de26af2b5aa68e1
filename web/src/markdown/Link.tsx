import type { ReactNode } from "react";
import { OUTWARD, safeHref, visible } from "../ui/hostile";
import { decodeEntities } from "./entities";
import styles from "./Markdown.module.css";

interface Props {
  readonly href: string;
  readonly text: string;
  readonly children: ReactNode;
}

/** A link, if it leads to the web or to somebody's mail; else its words, and where it would have led. */
export function Link({ href, text, children }: Props) {
  const safe = safeHref(href);
  if (safe === null) {
    const isPath = /^[\w./#~-]+$/.test(href) && !href.includes("..");
    return (
      <span className={styles.dead} title={visible(href)}>
        {children}
        {!isPath && href !== text && <code className={styles.span}>{visible(shortened(href))}</code>}
      </span>
    );
  }
  const host = hiddenHost(safe, text);
  return (
    <a href={safe} title={visible(safe)} {...OUTWARD}>
      {children}
      {host && <span className={styles.host}> ({host})</span>}
    </a>
  );
}

const shortened = (href: string): string => (href.length > 80 ? `${href.slice(0, 80)}…` : href);

const ADDRESS =
  /^(?:https?:\/\/((?:[\w-]+\.)+[a-z]{2,})|((?:[\w-]+\.)+(?:com|org|net|gov|edu|io|dev|ai)))(?:[/:?#]|$)/i;

/** The host of a link whose words name another one. */
export function hiddenHost(href: string, text: string): string | null {
  const found = ADDRESS.exec(decodeEntities(text).trim());
  const said = found?.[1] ?? found?.[2];
  if (!said || !/^https?:/.test(href)) return null;
  const { host } = new URL(href);
  return bare(said) === bare(host) ? null : host;
}

const bare = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^www\./, "")
    .replace(/:\d+$/, "");
