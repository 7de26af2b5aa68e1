/** The range of an occurrence in a part, of which some text may be hidden, virtual, or not loaded. */
import { askToReveal, PARTIAL } from "../ui/reveal";

/** Null if it is not rendered yet. Some text of a part is never displayed: then it is the nearest occurrence. */
export function seek(
  element: Element,
  pattern: RegExp,
  ranges: readonly Range[],
  number: number,
): Range | null {
  const found = seekIn(element, pattern, ranges, number);
  if (found.type !== "missing") return found.range;
  const nearest = nearestVisible(ranges, number - found.shift, element);
  if (nearest) return nearest;
  // The content has fewer occurrences than the part: its last one.
  const last = found.areas.findLast(({ total }) => total > 0);
  if (last) return seekIn(last.area, pattern, inside(last.area, ranges), last.total - 1, true).range;
  for (const area of areasIn(element, "last")) askToReveal(area, pattern, 0);
  return null;
}

type Found =
  | { readonly type: "found"; readonly range: Range | null }
  /** `shift` is the number of occurrences before that are not rendered. */
  | {
      readonly type: "missing";
      readonly range: null;
      readonly shift: number;
      readonly areas: readonly Missing[];
    };

interface Missing {
  readonly area: Element;
  readonly total: number;
}

/** Asks the areas that hide text, one after the other; with `self`, the element itself. */
function seekIn(
  element: Element,
  pattern: RegExp,
  ranges: readonly Range[],
  number: number,
  self = false,
): Found {
  let shift = 0;
  const areas: Missing[] = [];
  for (const area of self ? [element] : areasIn(element, "")) {
    const before = ranges.filter((range) => precedes(range.startContainer, area)).length;
    const within = inside(area, ranges);
    const local = number - before - shift;
    if (local < 0) break;
    const result = askToReveal(area, pattern, local);
    if (result.type === "loading") return { type: "found", range: null };
    if (result.type === "shown") {
      if (result.marked) return { type: "found", range: inMarked(area, within) };
      const inner = seekIn(area, pattern, within, local);
      return inner.type === "found" ? inner : { type: "found", range: within[local - inner.shift] ?? null };
    }
    areas.push({ area, total: result.total });
    shift += result.total - within.length;
  }
  return { type: "missing", range: null, shift, areas };
}

/** The outermost areas that hide text of an element, without those of other parts inside it. */
function areasIn(element: Element, kind: "" | "last"): readonly Element[] {
  const selector = `[${PARTIAL}="${kind}"]`;
  const part = element.closest("[data-place]");
  return [...element.querySelectorAll(selector)].filter((area) => {
    const outer = area.parentElement?.closest(selector);
    const isOutermost = !outer || outer === element || !element.contains(outer);
    return isOutermost && area.closest("[data-place]") === part;
  });
}

const inside = (area: Element, ranges: readonly Range[]): readonly Range[] =>
  ranges.filter((range) => area.contains(range.startContainer));

/** The range in the row that a list or a tree has marked. */
function inMarked(area: Element, ranges: readonly Range[]): Range | null {
  const row = area.querySelector<HTMLElement>("[data-sought]");
  const found = row ? inside(row, ranges) : [];
  return found[Number(row?.dataset.sought)] ?? null;
}

const precedes = (node: Node, area: Element): boolean =>
  (area.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;

/** The range with a number, or the nearest one after or before it that is not cut off, as by an ellipsis. */
function nearestVisible(ranges: readonly Range[], number: number, within: Element): Range | null {
  const start = Math.max(0, Math.min(number, ranges.length - 1));
  const order = [...ranges.slice(start), ...ranges.slice(0, start).reverse()];
  return order.find((range) => !isClipped(range, within)) ?? null;
}

/** Whether an element cuts off a range that cannot be scrolled into view. */
function isClipped(range: Range, within: Element): boolean {
  const word = range.getBoundingClientRect();
  if (!word.width && !word.height) return true;
  for (let at = range.startContainer.parentElement; at && at !== within; at = at.parentElement) {
    const { overflow } = getComputedStyle(at);
    if (at.dataset.cut === "true" || /auto|scroll/.test(overflow)) return false; // expands or scrolls
    if (!/hidden|clip/.test(overflow)) continue;
    const box = at.getBoundingClientRect();
    if (word.left >= box.right - 1 || word.right <= box.left + 1) return true;
    if (word.top >= box.bottom - 1 || word.bottom <= box.top + 1) return true;
  }
  return false;
}

/** Expands what is cut above or below an element. Returns whether there was any. */
export function expandAround(element: Element, within: Element): boolean {
  let isCut = false;
  for (let at = element.parentElement; at && at !== within; at = at.parentElement) {
    if (at.dataset.cut !== "true") continue;
    at.dispatchEvent(new Event("beforematch")); // as the browser does before it finds hidden text
    isCut = true;
  }
  return isCut;
}
