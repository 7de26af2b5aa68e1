/** The nesting depth of a message: 0 in the thread, 1 in a sub-agent, and so on. */
import { createContext } from "react";

export const Depth = createContext(0);

/** Deeper threads do not open automatically. */
export const MAX_OPENED = 6;
