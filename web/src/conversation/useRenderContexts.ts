/** The render contexts of a conversation. */
import { useMemo } from "react";
import type { RenderContext } from "../context/renderContext";
import { useServerContext } from "../context/useServerContext";
import { Messages } from "../parts/Messages";
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

/** The context of stored messages and that of the message that is streaming. */
export function useRenderContexts(options: Options): readonly [RenderContext, RenderContext] {
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
  return useMemo(() => {
    const stored: RenderContext = {
      ...server,
      Messages,
      live: false,
      timing: ({ messageId, path }) => cache.timing(messageId, path),
      respondToApproval,
      clientCallActions,
      endActions,
      showRaw,
      folder,
      target: message === null ? undefined : { messageId: message, path: part ?? "" },
    };
    return [stored, { ...stored, live: true }] as const;
  }, [server, cache, respondToApproval, clientCallActions, endActions, showRaw, folder, message, part]);
}
