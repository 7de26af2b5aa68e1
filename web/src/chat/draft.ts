/** What somebody has begun to write, kept until the tab closes. */
import { useCallback, useState } from "react";

const nameOf = (threadId: string) => `partita.draft.${threadId}`;

/** The draft of a thread. */
export function useDraft(threadId: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(nameOf(threadId)) ?? "");
  const change = useCallback(
    (next: string) => {
      setText(next);
      try {
        if (next) sessionStorage.setItem(nameOf(threadId), next);
        else sessionStorage.removeItem(nameOf(threadId));
      } catch {
        // there is no room for it: it lives as long as the page
      }
    },
    [threadId],
  );
  return [text, change];
}
