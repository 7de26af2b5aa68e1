import type { ReactNode } from "react";
import { visible } from "../ui/sanitize";
import styles from "./Markdown.module.css";

const LONG_WORD = /\S{300}/;

/**
 * Plain text with hidden characters made visible. Very long words are set without kerning: with kerning the browser
 * measures the rest of the word again for every line, which takes quadratic time.
 */
export function PlainText({ text }: { text: string }): ReactNode {
  const shown = visible(text);
  return LONG_WORD.test(shown) ? <span className={styles.long}>{shown}</span> : shown;
}
