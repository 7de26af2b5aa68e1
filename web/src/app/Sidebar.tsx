import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useCommands } from "../ui/commands";
import { usePreference } from "../ui/preferences";
import { DEFAULT_WIDTH, MAX_WIDTH, MIN_WIDTH } from "../ui/sidebar";
import styles from "./Sidebar.module.css";

interface Props {
  /** On a narrow screen: it is the only content of its view. */
  readonly isMain: boolean;
  /** Over the view instead of beside it. */
  readonly isOverlay: boolean;
  readonly isHidden: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Pixels that an arrow key moves the edge by. */
const STEP = 16;

const limited = (width: number): number => Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width)));

/** The list beside the view. Its edge is moved by the pointer or by the arrow keys; a double click resets it. */
export function Sidebar({ isMain, isOverlay, isHidden, onClose, children }: Props) {
  const [stored, store] = usePreference("sidebar");
  const [dragged, setDragged] = useState<number | null>(null);
  const sidebar = useRef<HTMLDivElement>(null);
  const grip = useRef(0); // from the start of the list to where the pointer holds the edge
  const width = dragged ?? limited(stored);

  // The grid of the shell has the width, so that the view moves while the edge is dragged.
  useLayoutEffect(() => {
    if (dragged !== null) sidebar.current?.parentElement?.style.setProperty("--sidebar", `${dragged}px`);
  }, [dragged]);

  // The focus must not be lost with what had it.
  useLayoutEffect(() => {
    if (isHidden && sidebar.current?.contains(document.activeElement))
      document.querySelector<HTMLElement>("[aria-controls=sidebar]:not([role])")?.focus();
  }, [isHidden]);

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus();
    grip.current = event.clientX - width;
    setDragged(width);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (dragged === null) return;
    setDragged(limited(event.clientX - grip.current));
  };
  const onPointerUp = () => {
    if (dragged !== null) store(dragged);
    setDragged(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: width - STEP,
      ArrowRight: width + STEP,
      Home: MIN_WIDTH,
      End: MAX_WIDTH,
      Enter: DEFAULT_WIDTH,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    store(limited(to));
  };
  useCommands(
    [{ keys: "Escape", what: "Close the list", group: "Page", run: onClose, keysOnly: true }],
    isOverlay,
  );
  return (
    <>
      {isOverlay && <div className={styles.shade} onPointerDown={onClose} />}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles support a label */}
      <div
        ref={sidebar}
        id="sidebar"
        role={isMain ? "main" : "complementary"}
        className={styles.sidebar}
        aria-label="Sessions"
        data-overlay={isOverlay || undefined}
        data-hidden={isHidden || undefined}
      >
        {children}
        {/* biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved */}
        <div
          className={styles.edge}
          data-dragged={dragged !== null || undefined}
          role="separator"
          aria-orientation="vertical"
          aria-label="Width of the list"
          aria-controls="sidebar"
          aria-valuenow={width}
          aria-valuemin={MIN_WIDTH}
          aria-valuemax={MAX_WIDTH}
          title="Drag to resize, double-click to reset"
          tabIndex={0}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={onPointerUp}
          onDoubleClick={() => store(DEFAULT_WIDTH)}
          onKeyDown={onKeyDown}
        />
      </div>
    </>
  );
}
