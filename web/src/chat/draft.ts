/** Drafts of messages. They are kept until the tab is closed. */
import { useCallback, useState } from "react";

export const NEW_CHAT = "new";

const nameOf = (threadId: string) => `partita.draft.${threadId}`;

/** Removes a draft and returns it. */
export function takeDraft(threadId: string): string {
  const text = sessionStorage.getItem(nameOf(threadId)) ?? "";
  sessionStorage.removeItem(nameOf(threadId));
  return text;
}

export function useDraft(threadId: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(nameOf(threadId)) ?? "");
  const change = useCallback(
    (next: string) => {
      setText(next);
      try {
        if (next) sessionStorage.setItem(nameOf(threadId), next);
        else sessionStorage.removeItem(nameOf(threadId));
      } catch {
        // the storage is full: the draft is kept in memory only
      }
    },
    [threadId],
  );
  return [text, change];
}
