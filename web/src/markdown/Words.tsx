import type { ReactNode } from "react";
import { visible } from "../ui/hostile";
import styles from "./Markdown.module.css";

const LONG_WORD = /\S{300}/;

/**
 * Text as it is, with what hides in it shown. Where a word has no end it is set without kerning: to break it, the
 * browser would measure all the rest of it again for every line, and stand still.
 */
export function Words({ text }: { text: string }): ReactNode {
  const shown = visible(text);
  return LONG_WORD.test(shown) ? <span className={styles.long}>{shown}</span> : shown;
}
