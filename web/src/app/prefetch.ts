/** Prefetches the view and the session in the address before the rest of the page has loaded. */
import { prefetchThread } from "../api/messages";
import { prefetchSummary } from "../api/threads";
import { parsePlace } from "../ui/routing";
import { preloadView } from "./views";

const { path, query } = parsePlace(location.hash);
const [first, threadId] = path;
void preloadView(first);
if (first === "t" && threadId) {
  prefetchThread(threadId, !query.has("m")).catch(() => undefined);
  prefetchSummary(threadId).catch(() => undefined);
}
// The view that is opened most often after the first one.
if (first !== "t" && typeof window.requestIdleCallback === "function")
  window.addEventListener("load", () => window.requestIdleCallback(() => void preloadView("t")));
