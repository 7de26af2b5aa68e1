/** Prefetches the session in the address before the rest of the page has loaded. */
import { prefetchThread } from "../api/messages";
import { parsePlace } from "../ui/routing";

const { path, query } = parsePlace(location.hash);
const [first, threadId] = path;
if (first === "t" && threadId) prefetchThread(threadId, !query.has("m")).catch(() => undefined);
