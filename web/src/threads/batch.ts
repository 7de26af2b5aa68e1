/** Changes of several sessions: one request each, a few at a time. */
import { plural } from "../ui/format";
import { toast, toastError } from "../ui/Toasts";

/** Requests at the same time. */
const PARALLEL = 4;

/** Runs a request for each id. Returns the ids whose request failed; failures are reported. */
export async function forEachId(
  ids: readonly string[],
  what: string,
  request: (id: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const reasons: unknown[] = [];
  const rest = [...ids];
  const work = async () => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      try {
        await request(id);
      } catch (reason) {
        failed.push(id);
        reasons.push(reason);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  if (failed.length && ids.length > 1)
    toast(`${plural(failed.length, "session")} of ${ids.length} could not be ${what}.`, { bad: true });
  if (failed.length) toastError(reasons[0]);
  return failed;
}
