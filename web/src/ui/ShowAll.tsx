import {
  type FocusEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button } from "./Button";
import { useFold } from "./Fold";
import styles from "./ShowAll.module.css";

/** The heights in rem to which content is cut. */
const HEIGHTS = { small: 16, medium: 22, large: 150 } as const;
/** Content that is only a little higher is not cut. */
const SLACK = 1.2;
/** Milliseconds in which the page may still move after a click. */
const SETTLING = 500;
/** After these events, something else may scroll. */
const SCROLLS = ["wheel", "touchmove", "keydown", "hashchange"] as const;

interface Props {
  /** The accessible name of the content. */
  readonly label: string;
  /** How much there is: `240 lines`. */
  readonly what?: string;
  readonly size?: keyof typeof HEIGHTS;
  readonly className?: string;
  /** The content renders only its visible lines: it is always cut, and scrolls when it is expanded. */
  readonly scroller?: (element: HTMLDivElement | null) => void;
  readonly children: ReactNode;
}

/**
 * Content that is cut if it is high, with a button that shows all of it. It does not scroll by itself, so that the
 * page goes on scrolling when the pointer passes over it.
 */
export function ShowAll({ label, what, size = "medium", className, scroller, children }: Props) {
  const [isOpen, setOpen] = useFold(false);
  const outer = useRef<HTMLDivElement>(null);
  const isHigh = useIsHigh(outer, HEIGHTS[size]) || scroller !== undefined;
  const button = useRef<HTMLDivElement>(null);
  const hold = useHold(outer, isOpen);
  const attach = useCallback(
    (element: HTMLDivElement | null) => {
      outer.current = element;
      scroller?.(element);
    },
    [scroller],
  );
  const isCut = isHigh && !isOpen;
  const toggle = () => {
    hold((isOpen ? button : outer).current);
    setOpen(!isOpen);
  };
  // The find bar goes to a word that is cut off.
  useEffect(() => {
    const element = outer.current;
    const expand = () => setOpen(true);
    element?.addEventListener("beforematch", expand);
    return () => element?.removeEventListener("beforematch", expand);
  }, [setOpen]);
  const onFocus = ({ target }: FocusEvent) => {
    const end = outer.current?.getBoundingClientRect().bottom ?? 0;
    if (isCut && target !== outer.current && target.getBoundingClientRect().top > end) toggle();
  };
  return (
    <div className={styles.whole}>
      {/* biome-ignore lint/a11y/useSemanticElements: a field set is for fields */}
      <div
        ref={attach}
        role="group"
        aria-label={label}
        className={styles.box}
        data-cut={isCut}
        data-scrolls={!isCut && scroller !== undefined}
        style={{ "--height": `${HEIGHTS[size]}rem` } as object}
        tabIndex={!isCut && scroller ? 0 : undefined}
        onFocus={onFocus}
      >
        <div className={className}>{children}</div>
      </div>
      {isHigh && (
        <div ref={button} className={styles.more}>
          <Button small kind="quiet" aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? "Show less" : what ? `Show all ${what}` : "Show all"}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Whether the content is higher than `rem`. */
function useIsHigh(outer: RefObject<HTMLElement | null>, rem: number): boolean {
  const [isHigh, setHigh] = useState(false);
  useLayoutEffect(() => {
    const content = outer.current?.firstElementChild;
    if (!(content instanceof HTMLElement)) return;
    const limit = SLACK * rem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const measure = () => setHigh(content.offsetHeight > limit);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(content);
    return () => observer.disconnect();
  }, [outer, rem]);
  return isHigh;
}

/** Keeps an element at its place in the window while the content expands or collapses. */
function useHold(outer: RefObject<HTMLElement | null>, isOpen: boolean | null) {
  const held = useRef<{ readonly element: Element; readonly top: number } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content has changed when `isOpen` has
  useLayoutEffect(() => {
    if (!held.current || !outer.current) return;
    const restore = () => {
      if (!held.current) return;
      const { element, top } = held.current;
      const moved = element.getBoundingClientRect().top - top;
      if (Math.abs(moved) >= 1) scrollParent(element)?.scrollBy({ top: moved, behavior: "instant" });
    };
    restore();
    // A list of messages corrects its scroll position when it has measured the new height.
    const observer = new ResizeObserver(restore);
    observer.observe(outer.current);
    const frame = requestAnimationFrame(restore);
    const timer = setTimeout(() => {
      restore();
      held.current = null;
      observer.disconnect();
    }, SETTLING);
    const release = () => {
      held.current = null;
    };
    for (const type of SCROLLS) window.addEventListener(type, release, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      for (const type of SCROLLS) window.removeEventListener(type, release, { capture: true });
    };
  }, [isOpen, outer]);
  return (element: Element | null) => {
    held.current = element && { element, top: element.getBoundingClientRect().top };
  };
}

function scrollParent(element: Element): Element | null {
  for (let parent = element.parentElement; parent; parent = parent.parentElement)
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent;
  return document.scrollingElement;
}
