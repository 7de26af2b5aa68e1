/** The title of the page: what is open, then the name of the application. */
import { useLayoutEffect } from "react";
import { visible } from "./sanitize";

const APPLICATION = "Partita";

interface Options {
  /** What is open is running or waits for the user: the title begins with a dot. */
  readonly isActive?: boolean;
  /** Without the name of the application, as in a shared file. */
  readonly isAlone?: boolean;
}

/** Names the page after what is open. Without a name, the title stays as it is. */
export function useTitle(
  name: string | null | undefined,
  { isActive = false, isAlone = false }: Options = {},
): void {
  useLayoutEffect(() => {
    if (!name) return;
    const shown = visible(name).trim();
    document.title = `${isActive ? "● " : ""}${shown}${isAlone ? "" : ` · ${APPLICATION}`}`;
  }, [name, isActive, isAlone]);
}
