/** The actions of the buttons on a message. */
import { type RefObject, useMemo, useRef } from "react";
import { switchBranch } from "../api/messages";
import { forkThread } from "../api/threads";
import type { ComposerControl } from "../chat/Composer";
import { setComposerStart } from "../chat/composerStart";
import type { Live } from "../chat/live";
import { go, toThread } from "../ui/routing";
import { toastError } from "../ui/Toasts";
import type { MessageCache } from "./cache";
import { focusInMessage } from "./focus";
import type { Actions } from "./MessageActions";

interface Options {
  readonly threadId: string;
  readonly cache: MessageCache;
  readonly live: Pick<Live, "regenerate">;
  readonly composer: RefObject<ComposerControl | null>;
  readonly canWrite: boolean;
  readonly refresh: () => Promise<unknown>;
  readonly setBranch: (through: string | null) => void;
  readonly setEditing: (messageId: string) => void;
}

export function useActions(options: Options): Actions {
  const now = useRef(options);
  now.current = options;
  return useMemo(
    () => ({
      canWrite: options.canWrite,
      fork: (messageId) =>
        void forkThread(now.current.threadId, messageId)
          .then((copy) => {
            setComposerStart(copy.id);
            go(toThread(copy.id));
          })
          .catch(toastError),
      chooseBranch: (messageId) =>
        void switchBranch(now.current.threadId, messageId)
          .then(() => {
            now.current.setBranch(null);
            // The address must not select the previous branch again.
            go(toThread(now.current.threadId), { replace: true });
            return now.current.refresh();
          })
          .then(() => focusInMessage(messageId, "[data-branches] button:not(:disabled)"))
          .catch(toastError),
      regenerate: (messageId) => {
        now.current.composer.current?.focus(); // the button disappears
        now.current.live.regenerate(messageId).catch(toastError);
      },
      edit: (messageId) => now.current.setEditing(messageId),
    }),
    [options.canWrite],
  );
}
