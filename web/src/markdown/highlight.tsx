/** Syntax highlighting. The highlighter is loaded with the first code. */
import { type ReactNode, startTransition, useEffect, useState } from "react";
import { visible } from "../ui/sanitize";
import styles from "./Code.module.css";

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly Node[];
}

interface Highlighter {
  registered(language: string): boolean;
  highlight(language: string, text: string): Node;
}

/** Longer code is not highlighted. */
export const MAX_LENGTH = 200_000;

let loading: Promise<Highlighter> | undefined;
let ready: Highlighter | undefined;

function highlighter(): Promise<Highlighter> {
  loading ??= load();
  return loading;
}

/** Milliseconds of work before the browser may render. */
const TIME_SLICE = 8;

/** Loads the highlighter and registers its languages in time slices: together they would block the page. */
async function load(): Promise<Highlighter> {
  await pause(); // render the text first
  const { common, createLowlight } = await import("lowlight");
  const lowlight = createLowlight();
  let since = performance.now();
  for (const [name, grammar] of Object.entries(common)) {
    lowlight.register(name, grammar);
    if (performance.now() - since < TIME_SLICE) continue;
    await pause();
    since = performance.now();
  }
  ready = lowlight as Highlighter;
  return ready;
}

const pause = (): Promise<void> =>
  new Promise((done) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => done(), { timeout: 100 });
    else setTimeout(done);
  });

/** The highlighter, once it is loaded. */
export function useHighlighter(isNeeded: boolean): Highlighter | undefined {
  const [found, setFound] = useState(ready);
  useEffect(() => {
    if (!isNeeded || found) return;
    let isMounted = true;
    void highlighter().then((it) => isMounted && startTransition(() => setFound(it)));
    return () => {
      isMounted = false;
    };
  }, [isNeeded, found]);
  return found;
}

/** The CSS class for each class of highlight.js. Others are not coloured. */
const KINDS: ReadonlyMap<string, string | undefined> = new Map(
  Object.entries({
    keyword: styles.keyword,
    built_in: styles.type,
    type: styles.type,
    class_: styles.type,
    literal: styles.number,
    number: styles.number,
    symbol: styles.number,
    string: styles.string,
    regexp: styles.string,
    addition: styles.added,
    deletion: styles.removed,
    comment: styles.comment,
    quote: styles.comment,
    title: styles.title,
    function_: styles.title,
    section: styles.title,
    name: styles.keyword,
    tag: styles.meta,
    attr: styles.title,
    attribute: styles.title,
    property: styles.title,
    variable: styles.type,
    "template-variable": styles.type,
    "selector-tag": styles.keyword,
    "selector-class": styles.title,
    "selector-id": styles.title,
    meta: styles.meta,
    doctag: styles.meta,
    link: styles.string,
    bullet: styles.keyword,
    strong: styles.strong,
    emphasis: styles.emphasis,
  }),
);

/** Renders a tree of the highlighter. The result contains only text and our own classes. */
export function renderTree(node: Node, depth = 0): ReactNode {
  if (node.type === "text") return visible(node.value ?? "");
  if (depth > 50) return visible(textOf(node));
  const inside = node.children?.map((child, index) => <Piece key={index} node={child} depth={depth + 1} />);
  const kind = kindOf(node);
  return kind ? <span className={kind}>{inside}</span> : inside;
}

const Piece = ({ node, depth }: { node: Node; depth: number }): ReactNode => renderTree(node, depth);

const textOf = (node: Node): string => node.value ?? node.children?.map(textOf).join("") ?? "";

function kindOf(node: Node): string | undefined {
  const names = node.properties?.className;
  if (!Array.isArray(names)) return undefined;
  // The last known class is the most specific: `hljs-title function_`.
  return names.map((name) => KINDS.get(String(name).replace(/^hljs-/, ""))).findLast(Boolean);
}
