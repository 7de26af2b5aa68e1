/** The range of an occurrence in a part, of which some text may be cut, virtual, or not loaded. */
import { askToReveal, PARTIAL } from "../ui/reveal";

/** Null if it is not rendered yet. Some text of a part is never displayed: then it is the nearest occurrence. */
export function seek(
  element: Element,
  pattern: RegExp,
  ranges: readonly Range[],
  number: number,
): Range | null {
  let shift = 0; // occurrences before that are not rendered
  for (const area of element.querySelectorAll(`[${PARTIAL}]`)) {
    const before = ranges.filter((range) => precedes(range.startContainer, area)).length;
    const inside = ranges.filter((range) => area.contains(range.startContainer));
    const local = number - before - shift;
    if (local < 0) break;
    const result = askToReveal(area, pattern, local);
    if (result.type === "loading") return null;
    if (result.type === "shown") return result.virtual ? inLine(area, inside) : (inside[local] ?? null);
    shift += result.total - inside.length;
  }
  return ranges[Math.min(number - shift, ranges.length - 1)] ?? ranges[0] ?? null;
}

/** The range in the line that a virtual list shows. */
function inLine(area: Element, ranges: readonly Range[]): Range | null {
  const line = area.querySelector<HTMLElement>("[data-sought]");
  const found = line ? ranges.filter((range) => line.contains(range.startContainer)) : [];
  return found[Number(line?.dataset.sought)] ?? null;
}

const precedes = (node: Node, area: Element): boolean =>
  (area.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;

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
