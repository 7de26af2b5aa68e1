import type { Page } from "playwright-core";

export interface Mark {
  readonly text: string;
  readonly part: string | undefined;
  /** Whether it is in the visible area of the messages. */
  readonly seen: boolean;
  /** Whether nothing covers or cuts it. */
  readonly clear: boolean;
}

/** The texts with one of the highlights of the find bar. */
export const marked = (page: Page, name: "find" | "find-current"): Promise<Mark[]> =>
  page.evaluate((which) => {
    const area = document.querySelector('section[aria-label="Messages"]')?.getBoundingClientRect();
    return [...(CSS.highlights.get(which) ?? [])].map((one) => {
      const range = one as Range;
      const box = range.getBoundingClientRect();
      const parent = range.startContainer.parentElement;
      const top = document.elementFromPoint(box.left + 2, box.top + box.height / 2);
      return {
        text: range.toString(),
        part: parent?.closest<HTMLElement>("[data-place]")?.dataset.place,
        seen: area !== undefined && box.top >= area.top && box.bottom <= area.bottom && box.height > 0,
        clear: top !== null && (top.contains(range.startContainer) || Boolean(parent?.contains(top))),
      };
    });
  }, name);
