/** How deep the headings are where something is drawn. */
import { createContext } from "react";

/** The level of the headings of a text; the message around it has the one before. */
export const HeadingLevel = createContext(3);

export const headingTag = (level: number): "h2" | "h3" | "h4" | "h5" | "h6" =>
  `h${Math.max(2, Math.min(6, level))}` as "h2" | "h3" | "h4" | "h5" | "h6";
