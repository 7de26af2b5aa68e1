import { useEffect, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { visible } from "../ui/sanitize";
import { Code } from "./Code";
import styles from "./Mermaid.module.css";
import { coloursOf, type DiagramResponse, parseResponse } from "./mermaidMessages";

/** Characters. Longer sources are not rendered. */
const MAX_SOURCE = 50_000;
const FRAME = "mermaid.html";

/** A diagram and its source. It is rendered in a sandboxed frame without an origin. */
export function Mermaid({ source, closed }: { source: string; closed: boolean }) {
  const container = useRef<HTMLDivElement>(null);
  const isNearViewport = useNearViewport(container);
  const [response, setResponse] = useState<DiagramResponse | null>(null);
  const [isSourceShown, showSource] = useState(false);
  const canRender = closed && source.length <= MAX_SOURCE;
  const isRendered = response?.type === "drawn";
  return (
    <div
      ref={container}
      className={styles.diagram}
      data-diagram={canRender ? (response?.type ?? "awaited") : "source"}
    >
      {canRender && isNearViewport && response?.type !== "failed" && (
        <Frame source={source} height={isRendered ? response.height : 0} onResponse={setResponse} />
      )}
      {response?.type === "failed" && (
        <p className={styles.failure}>This diagram cannot be rendered: {visible(response.message)}</p>
      )}
      {isRendered && (
        <Button
          small
          kind="quiet"
          aria-expanded={isSourceShown}
          className={styles.toggle}
          onClick={() => showSource(!isSourceShown)}
        >
          {isSourceShown ? "Hide source" : "Show source"}
        </Button>
      )}
      {(!isRendered || isSourceShown) && <Code text={source} language="mermaid" open={!closed} />}
    </div>
  );
}

interface FrameProps {
  readonly source: string;
  readonly height: number;
  readonly onResponse: (response: DiagramResponse) => void;
}

function Frame({ source, height, onResponse }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    // The frame has no origin, so it is identified by its window.
    const send = () =>
      element.contentWindow?.postMessage(
        { source, colours: coloursOf(element), dark: theme === "dark" },
        "*",
      );
    const onMessage = (event: MessageEvent<unknown>) => {
      if (event.source !== element.contentWindow) return;
      const message = parseResponse(event.data);
      if (message?.type === "ready") send();
      else if (message) onResponse(message);
    };
    window.addEventListener("message", onMessage);
    send();
    return () => window.removeEventListener("message", onMessage);
  }, [source, theme, onResponse]);
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

/** Whether the element is or was in or near the viewport. */
function useNearViewport(container: React.RefObject<HTMLElement | null>): boolean {
  const [isNearViewport, setNearViewport] = useState(false);
  useEffect(() => {
    if (isNearViewport || !container.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNearViewport(true),
      { rootMargin: "200px" },
    );
    observer.observe(container.current);
    return () => observer.disconnect();
  }, [isNearViewport, container]);
  return isNearViewport;
}

/** The current theme of the page. */
function useTheme(): string | undefined {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(document.documentElement.dataset.theme));
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return theme;
}
