/** The space bar plays and pauses, unless the focus is on an element that uses it. */
import { useEffect, useRef } from "react";

const USES_SPACE = "button, a, select, textarea, summary, input, [contenteditable], [role=listbox]";

export function useSpaceKey(run: () => void): void {
  const now = useRef(run);
  now.current = run;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== " " || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
        return;
      if (event.target instanceof Element && event.target.closest(USES_SPACE)) return;
      if (document.querySelector("dialog:modal")) return;
      event.preventDefault();
      now.current();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
