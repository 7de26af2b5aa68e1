/** The live state of a thread for React. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getJson, type Listing } from "../api/client";
import type { Run } from "../partita.gen";
import { toastError } from "../ui/Toasts";
import { type Live, type LiveOptions, type LiveState, NOTHING } from "./live";
import { LiveThread } from "./liveThread";
import { takePending } from "./pending";

export function useLive(threadId: string, options: LiveOptions): Live {
  const [state, setState] = useState<LiveState>(NOTHING);
  const latest = useRef(options);
  latest.current = options;
  const thread = useMemo(() => new LiveThread(threadId, latest, setState), [threadId]);

  useEffect(() => {
    thread.open();
    return () => thread.close();
  }, [thread]);

  const actions = useMemo(
    () => ({
      send: (...given: Parameters<Live["send"]>) => thread.send(...given),
      stop: () => thread.stop(),
      regenerate: (messageId: string) => thread.regenerate(messageId),
      edit: (...given: Parameters<Live["edit"]>) => thread.edit(...given),
      answer: (...given: Parameters<Live["answer"]>) => thread.answer(...given),
      giveOutput: (...given: Parameters<Live["giveOutput"]>) => thread.giveOutput(...given),
    }),
    [thread],
  );

  const wake = useCallback(
    (signal?: AbortSignal) => {
      activeRun(threadId, signal).then(
        (run) => run && !signal?.aborted && thread.wake(run.id),
        () => undefined, // reading the thread reports why the server does not respond
      );
    },
    [threadId, thread],
  );

  useEffect(() => {
    const pending = takePending(threadId);
    if (pending) {
      actions.send(pending).catch(toastError);
      return;
    }
    const controller = new AbortController();
    wake(controller.signal);
    return () => controller.abort();
  }, [threadId, actions, wake]);

  return { ...state, ...actions, wake };
}

/** The run of a thread that is pending or running on this server. */
async function activeRun(threadId: string, signal?: AbortSignal): Promise<Run | undefined> {
  const query = { threadId, status: ["pending", "running"] };
  const { items } = await getJson<Listing<Run>>("api/runs", query, signal);
  return items.findLast((run) => !isImported(run));
}

/** A run whose agent works elsewhere: only its log is read here. */
const isImported = (run: Run): boolean => typeof run.metadata?.log === "object";
