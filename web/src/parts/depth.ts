/** How many threads a message is inside of: 0 on the page, 1 below a call, and so on. */
import { createContext } from "react";

export const Depth = createContext(0);

/** From here on nothing is moved further to the right, and nothing opens by itself. */
export const MAX_INDENTED = 6;
