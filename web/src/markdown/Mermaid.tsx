import { useEffect, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { visible } from "../ui/hostile";
import { Code } from "./Code";
import styles from "./Mermaid.module.css";
import { coloursOf, type Drawn, readDrawn } from "./mermaidTalk";

/** Characters; a longer source is shown, not drawn. */
const MAX_SOURCE = 50_000;
const FRAME = "mermaid.html";

/** A diagram and its source. It is drawn in a frame that has no origin and no way out. */
export function Mermaid({ source, closed }: { source: string; closed: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(place);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [isSourceShown, showSource] = useState(false);
  const canDraw = closed && source.length <= MAX_SOURCE;
  const isDrawn = drawn?.type === "drawn";
  return (
    <div
      ref={place}
      className={styles.diagram}
      data-diagram={canDraw ? (drawn?.type ?? "awaited") : "source"}
    >
      {canDraw && isSeen && drawn?.type !== "failed" && (
        <Frame source={source} height={isDrawn ? drawn.height : 0} onDrawn={setDrawn} />
      )}
      {drawn?.type === "failed" && (
        <p className={styles.failure}>This diagram cannot be drawn: {visible(drawn.message)}</p>
      )}
      {isDrawn && (
        <Button
          small
          kind="quiet"
          aria-expanded={isSourceShown}
          className={styles.toggle}
          onClick={() => showSource(!isSourceShown)}
        >
          {isSourceShown ? "Hide the source" : "Show the source"}
        </Button>
      )}
      {(!isDrawn || isSourceShown) && <Code text={source} language="mermaid" open={!closed} />}
    </div>
  );
}

interface FrameProps {
  readonly source: string;
  readonly height: number;
  readonly onDrawn: (drawn: Drawn) => void;
}

function Frame({ source, height, onDrawn }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    // The frame has no origin to name: it is known by its window alone.
    const send = () =>
      element.contentWindow?.postMessage(
        { source, colours: coloursOf(element), dark: theme === "dark" },
        "*",
      );
    const hear = (event: MessageEvent<unknown>) => {
      if (event.source !== element.contentWindow) return;
      const told = readDrawn(event.data);
      if (told?.type === "ready") send();
      else if (told) onDrawn(told);
    };
    window.addEventListener("message", hear);
    send();
    return () => window.removeEventListener("message", hear);
  }, [source, theme, onDrawn]);
  return (
    <iframe
      ref={frame}
      className={styles.frame}
      title="Diagram"
      src={FRAME}
      sandbox="allow-scripts"
      style={{ height }}
    />
  );
}

/** Whether it has been on the screen, or near it. */
function useSeen(place: React.RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !place.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      { rootMargin: "200px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isSeen, place]);
  return isSeen;
}

/** The colours the page has now, followed. */
function useTheme(): string | undefined {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(document.documentElement.dataset.theme));
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return theme;
}
