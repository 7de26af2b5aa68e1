/** The live state of a thread, and the door behind which the AI SDK stands. */
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getJson, type Listing } from "../api/client";
import type { Run } from "../partita.gen";
import { toastError } from "../ui/Toasts";
import { type Live, type LiveOptions, type LiveState, NOTHING } from "./live";
import { takePending } from "./pending";
import type { Work } from "./work";

const Engine = lazy(() => {
  // The page's policy knows no eval: what the AI SDK checks messages with must not even try.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  return import("./Engine");
});

const AT_WORK = ["pending", "running"];

/** Where those wait who want something of the engine before it is there. */
class Door {
  private open!: (work: Work) => void;
  readonly work = new Promise<Work>((resolve) => {
    this.open = resolve;
  });
  readonly ready = (work: Work): void => this.open(work);
}

export function useLive(threadId: string, options: LiveOptions): Live {
  const [state, setState] = useState<LiveState>(NOTHING);
  const [live, setLive] = useState<"no" | "asked" | "follows">("no");
  const latest = useRef(options);
  latest.current = options;
  const door = useMemo(() => new Door(), []);
  const isLive = useRef(false);

  const follow = useCallback(() => {
    if (isLive.current) void door.work.then((work) => work.wake());
    isLive.current = true;
    setLive((was) => (was === "no" ? "follows" : was));
  }, [door]);

  const actions = useMemo(() => {
    const act =
      <Given extends readonly unknown[]>(what: (work: Work, ...given: Given) => Promise<void>) =>
      async (...given: Given) => {
        isLive.current = true;
        setLive((was) => (was === "no" ? "asked" : was));
        await what(await door.work, ...given);
      };
    return {
      send: act((work, what: Parameters<Live["send"]>[0]) => work.send(what)),
      stop: act((work) => work.stop()),
      regenerate: act((work, id: string) => work.regenerate(id)),
      edit: act((work, ...given: Parameters<Live["edit"]>) => work.edit(...given)),
      answer: act((work, ...given: Parameters<Live["answer"]>) => work.answer(...given)),
      giveOutput: act((work, ...given: Parameters<Live["giveOutput"]>) => work.giveOutput(...given)),
    };
  }, [door]);

  const busy = useRef(false);
  busy.current = state.busy;
  const wake = useCallback(
    (signal?: AbortSignal) => {
      if (busy.current) return;
      isAtWork(threadId, signal).then(
        (found) => found && !signal?.aborted && !busy.current && follow(),
        () => undefined, // whoever reads the thread hears why it cannot be read
      );
    },
    [threadId, follow],
  );

  useEffect(() => {
    const waiting = takePending(threadId);
    if (waiting) {
      actions.send(waiting).catch(toastError);
      return;
    }
    const controller = new AbortController();
    wake(controller.signal);
    return () => controller.abort();
  }, [threadId, actions, wake]);

  const engine = live !== "no" && (
    <Suspense fallback={null}>
      <Engine
        threadId={threadId}
        resume={live === "follows"}
        options={latest}
        onState={setState}
        onReady={door.ready}
      />
    </Suspense>
  );
  return { ...state, ...actions, wake, engine };
}

async function isAtWork(threadId: string, signal?: AbortSignal): Promise<boolean> {
  const query = { threadId, status: AT_WORK, limit: 1 };
  const { items } = await getJson<Listing<Run>>("api/runs", query, signal);
  return items.some((run) => !isImported(run));
}

/** A run whose agent works elsewhere: only its log is read here. */
const isImported = (run: Run): boolean => typeof run.metadata?.log === "object";
