/** Code as coloured elements. The colouring is fetched when the first code needs it. */
import { type ReactNode, startTransition, useEffect, useState } from "react";
import { visible } from "../ui/hostile";
import styles from "./Code.module.css";

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly Node[];
}

export interface Highlighter {
  registered(language: string): boolean;
  highlight(language: string, text: string): Node;
}

/** Characters; more is shown without colours. */
export const MAX_COLOURED = 200_000;

let fetched: Promise<Highlighter> | undefined;
let ready: Highlighter | undefined;

function highlighter(): Promise<Highlighter> {
  fetched ??= made();
  return fetched;
}

/** So many milliseconds the making may take before the page has its turn. */
const SLICE = 8;

/** Languages take long to make: all at once, one would feel it. */
async function made(): Promise<Highlighter> {
  await pause(); // what is read comes first
  const { common, createLowlight } = await import("lowlight");
  const lowlight = createLowlight();
  let since = performance.now();
  for (const [name, grammar] of Object.entries(common)) {
    lowlight.register(name, grammar);
    if (performance.now() - since < SLICE) continue;
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

/** The colouring once it is there; until then code is plain, in the same place and size. */
export function useHighlighter(wanted: boolean): Highlighter | undefined {
  const [found, setFound] = useState(ready);
  useEffect(() => {
    if (!wanted || found) return;
    let isHere = true;
    void highlighter().then((it) => isHere && startTransition(() => setFound(it)));
    return () => {
      isHere = false;
    };
  }, [wanted, found]);
  return found;
}

/** What a class of the colouring looks like here; the rest is plain. */
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

/** A tree of the colouring as elements. Nothing but words and our own classes comes out of it. */
export function coloured(node: Node, depth = 0): ReactNode {
  if (node.type === "text") return visible(node.value ?? "");
  if (depth > 50) return visible(wordsOf(node));
  const inside = node.children?.map((child, index) => <Piece key={index} node={child} depth={depth + 1} />);
  const kind = kindOf(node);
  return kind ? <span className={kind}>{inside}</span> : inside;
}

const Piece = ({ node, depth }: { node: Node; depth: number }): ReactNode => coloured(node, depth);

const wordsOf = (node: Node): string => node.value ?? node.children?.map(wordsOf).join("") ?? "";

function kindOf(node: Node): string | undefined {
  const names = node.properties?.className;
  if (!Array.isArray(names)) return undefined;
  // The last one that we know says most: `hljs-title function_`.
  return names.map((name) => KINDS.get(String(name).replace(/^hljs-/, ""))).findLast(Boolean);
}
