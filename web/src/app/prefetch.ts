/** Prefetches the view, and the session in the address or the list, before the rest of the page has loaded. */
import { prefetchThread } from "../api/messages";
import { prefetchSummary } from "../api/threads";
import { readFilters } from "../threads/filters";
import { prefetchList } from "../threads/listQueries";
import { keptQuery } from "../ui/keptQuery";
import { parsePlace } from "../ui/routing";
import { preloadView } from "./views";

const { path, query } = parsePlace(location.hash);
const [first, threadId] = path;
// Before the view: its files would take all connections to the server.
if (first === "t" && threadId) {
  prefetchThread(threadId, query.get("m"));
  prefetchSummary(threadId);
} else if (first === undefined || first === "sessions") {
  prefetchList(readFilters(query.size ? query : new URLSearchParams(keptQuery())));
}
void preloadView(first);

/** What shows that the user is about to follow a link. */
const INTENTS = ["pointerover", "pointerdown", "focusin"] as const;

// The view of sessions is loaded before a link to one is followed.
function onIntent({ target }: Event): void {
  if (!(target instanceof Element) || !target.closest('a[href^="#/t/"]')) return;
  for (const type of INTENTS) document.removeEventListener(type, onIntent);
  void preloadView("t");
}
if (first !== "t") for (const type of INTENTS) document.addEventListener(type, onIntent, { passive: true });
