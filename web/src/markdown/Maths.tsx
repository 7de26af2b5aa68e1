import { useEffect, useRef, useState } from "react";
import { visible } from "../ui/sanitize";
import type { MathsToken } from "./grammar";
import styles from "./Maths.module.css";

const OPTIONS = {
  output: "mathml",
  trust: false,
  strict: "ignore",
  throwOnError: true,
  maxExpand: 200,
  maxSize: 20,
  // These two generate style attributes, which the Content-Security-Policy forbids.
  macros: { "\\pmb": "\\boldsymbol", "\\fcolorbox": "\\colorbox" },
} as const;

/** Replaces \fcolorbox by \colorbox. A macro cannot drop the argument for the frame. */
const withoutFrames = (text: string): string => text.replace(/\\fcolorbox\s*\{[^{}]*\}/g, "\\colorbox");

/** A formula as MathML; its source until KaTeX has loaded, and if it is invalid. */
export function Maths({ token }: { token: MathsToken }) {
  const { text, display, open } = token;
  const element = useRef<HTMLSpanElement>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isRendered, setRendered] = useState(false);
  useEffect(() => {
    if (open) return;
    let isMounted = true;
    void import("katex").then(({ default: katex }) => {
      if (!isMounted || !element.current) return;
      try {
        katex.render(withoutFrames(text), element.current, {
          ...OPTIONS,
          displayMode: display,
          macros: { ...OPTIONS.macros },
        });
        setFailure(null);
        setRendered(true);
      } catch (error) {
        setRendered(false);
        setFailure(error instanceof Error ? error.message : String(error));
      }
    });
    return () => {
      isMounted = false;
    };
  }, [text, display, open]);
  return (
    <span className={display ? styles.display : styles.inline} title={failure ? visible(failure) : undefined}>
      <span ref={element} hidden={!isRendered} />
      {!isRendered && <code className={failure ? styles.bad : styles.source}>{visible(text)}</code>}
    </span>
  );
}
