/** The render contexts of a conversation. */
import { useMemo } from "react";
import type { RenderContext } from "../context/renderContext";
import { useServerContext } from "../context/useServerContext";
import { Messages } from "../parts/Messages";
import { usePreference } from "../ui/preferences";
import type { MessageCache } from "./cache";

interface Options
  extends Pick<
    RenderContext,
    "respondToApproval" | "clientCallActions" | "endActions" | "showRaw" | "folder"
  > {
  readonly threadId: string;
  readonly cache: MessageCache;
  /** The message and part in the page's address. */
  readonly message: string | null;
  readonly part: string | null;
}

/** The contexts of the messages of a conversation. */
export interface RenderContexts {
  readonly stored: RenderContext;
  /** Of stored messages whose agent is still working. */
  readonly active: RenderContext;
  /** Of the message that is streaming. */
  readonly live: RenderContext;
}

export function useRenderContexts(options: Options): RenderContexts {
  const {
    threadId,
    cache,
    respondToApproval,
    clientCallActions,
    endActions,
    showRaw,
    folder,
    message,
    part,
  } = options;
  const server = useServerContext(threadId);
  const [detail] = usePreference("detail");
  return useMemo(() => {
    const stored: RenderContext = {
      ...server,
      Messages,
      live: false,
      groupCalls: detail !== "everything",
      timing: ({ messageId, path }) => cache.timing(messageId, path),
      respondToApproval,
      clientCallActions,
      endActions,
      showRaw,
      folder,
      target: message === null ? undefined : { messageId: message, path: part ?? "" },
    };
    return { stored, active: { ...stored, active: true }, live: { ...stored, live: true } };
  }, [
    server,
    detail,
    cache,
    respondToApproval,
    clientCallActions,
    endActions,
    showRaw,
    folder,
    message,
    part,
  ]);
}
