/** The level of headings at a position of the page. */
import { createContext } from "react";

/** The level of headings in a text; the heading of its message is one level higher. */
export const HeadingLevel = createContext(3);

export const headingTag = (level: number): "h2" | "h3" | "h4" | "h5" | "h6" =>
  `h${Math.max(2, Math.min(6, level))}` as "h2" | "h3" | "h4" | "h5" | "h6";
