/** The sessions that were opened last in this browser. */

const STORAGE = "partita.opened";
const KEPT = 12;

/** Their ids, the last one first. */
export function openedThreads(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string").slice(0, KEPT) : [];
  } catch {
    return []; // not written by this page
  }
}

export function recordOpened(id: string): void {
  const others = openedThreads().filter((one) => one !== id);
  localStorage.setItem(STORAGE, JSON.stringify([id, ...others].slice(0, KEPT)));
}
