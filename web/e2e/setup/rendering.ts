/** How a page was rendered. */
import type { Page } from "playwright-core";

/** How far content has moved by itself (the layout shift), and when the largest content was displayed, in milliseconds. */
export const rendering = (page: Page): Promise<{ readonly shift: number; readonly paint: number }> =>
  page.evaluate(
    () =>
      new Promise((done) => {
        const found = { shift: 0, paint: 0 };
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) found.shift += (entry as unknown as { value: number }).value;
        }).observe({ type: "layout-shift", buffered: true });
        new PerformanceObserver((list) => {
          found.paint = list.getEntries().at(-1)?.startTime ?? 0;
        }).observe({ type: "largest-contentful-paint", buffered: true });
        setTimeout(() => done(found), 100); // they report in a later task
      }),
  );
