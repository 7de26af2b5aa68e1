/** The live state of a thread for React. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getJson, type Listing } from "../api/client";
import type { Run } from "../partita.gen";
import { LazyLiveThread } from "./lazyLiveThread";
import { type Live, type LiveOptions, type LiveState, NOT_LIVE } from "./live";

export function useLive(threadId: string, options: LiveOptions): Live {
  const [state, setState] = useState<LiveState>(NOT_LIVE);
  const latest = useRef(options);
  latest.current = options;
  const thread = useMemo(() => new LazyLiveThread(threadId, latest, setState), [threadId]);

  useEffect(() => {
    thread.open();
    return () => thread.close();
  }, [thread]);

  const actions = useMemo(() => {
    const { send, stop, regenerate, edit, respondToApproval, addToolOutput } = thread;
    return { send, stop, regenerate, edit, respondToApproval, addToolOutput };
  }, [thread]);

  const followActiveRun = useCallback(
    (signal?: AbortSignal) => {
      activeRun(threadId, signal).then(
        (run) => (run && !signal?.aborted ? thread.followRun(run.id) : undefined),
        () => undefined, // loading the thread reports the error
      );
    },
    [threadId, thread],
  );

  useEffect(() => {
    const controller = new AbortController();
    followActiveRun(controller.signal);
    return () => controller.abort();
  }, [followActiveRun]);

  return { ...state, ...actions, followActiveRun };
}

/** The run of a thread that is pending or running on this server. */
async function activeRun(threadId: string, signal?: AbortSignal): Promise<Run | undefined> {
  const query = { threadId, status: ["pending", "running"] };
  const { items } = await getJson<Listing<Run>>("api/runs", query, signal);
  return items.findLast((run) => !isImported(run));
}

/** Whether the run was imported from the log of an agent that runs elsewhere. */
const isImported = (run: Run): boolean => typeof run.metadata?.log === "object";
