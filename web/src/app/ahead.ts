/** Asks for the session that the address names, before the rest of the page is even read. */
import { askForThread } from "../api/messages";
import { parsePlace } from "../ui/routing";

const { path, query } = parsePlace(location.hash);
const [first, threadId] = path;
if (first === "t" && threadId) askForThread(threadId, !query.has("m")).catch(() => undefined);
