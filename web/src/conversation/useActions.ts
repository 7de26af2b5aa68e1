/** What a conversation does with its messages when somebody presses a button. */
import { useMemo, useRef } from "react";
import { forkThread, switchBranch } from "../api/messages";
import type { Live } from "../chat/live";
import { go, toThread } from "../ui/routing";
import { toastError } from "../ui/Toasts";
import type { MessageCache } from "./cache";
import type { Actions } from "./MessageActions";

interface Given {
  readonly threadId: string;
  readonly cache: MessageCache;
  readonly live: Pick<Live, "regenerate">;
  readonly canSpeak: boolean;
  readonly again: () => Promise<unknown>;
  readonly setBranch: (through: string | null) => void;
  readonly setEditing: (messageId: string) => void;
}

export function useActions(given: Given): Actions {
  const now = useRef(given);
  now.current = given;
  return useMemo(
    () => ({
      canSpeak: given.canSpeak,
      fork: (messageId) =>
        void forkThread(now.current.threadId, messageId)
          .then((copy) => go(toThread(copy.id)))
          .catch(toastError),
      chooseBranch: (messageId) =>
        void switchBranch(now.current.threadId, messageId)
          .then(() => {
            now.current.setBranch(null);
            // The address must not lead back to the branch that was left.
            go(toThread(now.current.threadId), { replace: true });
            return now.current.again();
          })
          .catch(toastError),
      regenerate: (messageId) => void now.current.live.regenerate(messageId).catch(toastError),
      edit: (messageId) => now.current.setEditing(messageId),
    }),
    [given.canSpeak],
  );
}
