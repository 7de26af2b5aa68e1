/** The part of the render context that needs a server: blobs, tool views and links to messages and parts. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { BlobAddresses, loadBlob } from "../api/blobs";
import { classifyCalls } from "../api/messages";
import { toThread } from "../ui/routing";
import type { RenderContext } from "./renderContext";
import { ToolViews } from "./toolViews";

type ServerContext = Pick<RenderContext, "threadId" | "loadBlob" | "blobHref" | "toolViews" | "linkTo">;

export const linkTo = (threadId: string, messageId?: string, path?: string): string =>
  new URL(toThread(threadId, messageId, path), location.href).href;

/** The same object until another blob has loaded: then everything that shows blobs renders again. */
export function useServerContext(threadId: string): ServerContext {
  const [blobs] = useState(() => new BlobAddresses());
  useEffect(() => () => blobs.close(), [blobs]);
  const toolViews = useMemo(() => new ToolViews((calls) => classifyCalls(threadId, calls)), [threadId]);
  const version = useSyncExternalStore(blobs.subscribe, blobs.version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new blob URLs require a new context
  return useMemo(
    () => ({
      threadId,
      loadBlob,
      blobHref: (url) => blobs.of(url),
      toolViews,
      linkTo: ({ messageId, path }) => linkTo(threadId, messageId, path),
    }),
    [threadId, blobs, toolViews, version],
  );
}
