/** What the drawing of messages needs in a conversation: blobs, times, links, raw events, answers. */
import { useMemo } from "react";
import { useServed } from "../drawing/useServed";
import type { Viewing } from "../viewing/viewing";
import type { MessageCache } from "./cache";

interface Given extends Pick<Viewing, "answer" | "replying" | "showRaw"> {
  readonly threadId: string;
  readonly cache: MessageCache;
  /** The part that the address names. */
  readonly message: string | null;
  readonly part: string | null;
}

/** How stored messages are drawn, and how the one that is being written is. */
export function useViewings(given: Given): readonly [Viewing, Viewing] {
  const { threadId, cache, answer, replying, showRaw, message, part } = given;
  const served = useServed(threadId);
  return useMemo(() => {
    const stored: Viewing = {
      ...served,
      live: false,
      timing: ({ messageId, path }) => cache.timing(messageId, path),
      answer,
      replying,
      showRaw,
      target: message === null ? undefined : { messageId: message, path: part ?? "" },
    };
    return [stored, { ...stored, live: true }] as const;
  }, [served, cache, answer, replying, showRaw, message, part]);
}
