/** The sections of the page, and how the address leads to one: `chart=growth`. */
import { type RefObject, useEffect } from "react";

export const TITLES = {
  totals: "Totals",
  trends: "Trends",
  activity: "Activity",
  cost: "Cost by project and session",
  growth: "Context growth",
  sessions: "Sessions",
  turns: "Turns",
  models: "Models",
  projects: "Projects and agents",
  tools: "Tools",
} as const;

export type SectionName = keyof typeof TITLES;

/** The names in the navigation. */
export const SHORT: Readonly<Record<SectionName, string>> = {
  ...TITLES,
  cost: "Cost",
  growth: "Context",
  projects: "Projects",
};

/** Milliseconds in which a section is kept in view while what is above it loads. */
const SETTLING = 2000;
const INPUTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/** Scrolls to a section and focuses its heading. It stays in view while the page loads, until the user does something. */
export function useTarget(section: RefObject<HTMLElement | null>, isTarget: boolean): void {
  useEffect(() => {
    const element = section.current;
    if (!isTarget || !element) return;
    element.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    const reach = () => element.scrollIntoView({ block: "start", behavior: "instant" });
    reach();
    const observer = new ResizeObserver(reach);
    for (const other of element.parentElement?.children ?? []) observer.observe(other);
    const stop = () => {
      observer.disconnect();
      for (const name of INPUTS) window.removeEventListener(name, stop);
    };
    for (const name of INPUTS) window.addEventListener(name, stop, { passive: true });
    const timer = setTimeout(stop, SETTLING);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [section, isTarget]);
}
