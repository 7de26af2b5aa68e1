/** The actions on the last response of a session if it failed, was stopped or was interrupted. */
import { type RefObject, useMemo, useRef } from "react";
import { isAvailable, useAgents } from "../api/agents";
import type { ComposerControl } from "../chat/Composer";
import type { Live } from "../chat/live";
import type { RenderContext } from "../context/renderContext";
import type { Message } from "../partita.gen";
import { endOf } from "../parts/end";
import { toastError } from "../ui/Toasts";

const CONTINUE = "Continue";
const OTHER_AGENT = "You can also choose another agent below, and retry.";

interface Options {
  readonly last: Message | undefined;
  readonly live: Pick<Live, "busy" | "regenerate" | "send">;
  readonly agent: string | undefined;
  readonly canWrite: boolean;
  readonly composer: RefObject<ComposerControl | null>;
}

export function useEndActions(options: Options): RenderContext["endActions"] {
  const now = useRef(options);
  now.current = options;
  const { data: agents = [] } = useAgents();
  const { last, live, agent, canWrite } = options;
  const end = last?.role === "assistant" && canWrite && !live.busy && agent ? endOf(last) : null;
  const id = end ? last?.id : undefined;
  const isEmpty = !last?.content.parts.some(({ type }) => type === "text" || type === "tool-call");
  const hint = end?.status === "failed" && agents.filter(isAvailable).length > 1 ? OTHER_AGENT : undefined;
  return useMemo(() => {
    if (id === undefined) return undefined;
    const act = (action: (live: Options["live"]) => Promise<void>) => {
      now.current.composer.current?.focus(); // the button disappears
      action(now.current.live).catch(toastError);
    };
    const actions = {
      retry: () => act(({ regenerate }) => regenerate(id)),
      resume: isEmpty
        ? undefined
        : () => act(({ send }) => send({ text: CONTINUE, agent: now.current.agent })),
      hint,
    };
    return (message) => (message.id === id ? actions : undefined);
  }, [id, isEmpty, hint]);
}
