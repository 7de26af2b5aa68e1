/** Finds the range of a path in a text. The JSON is scanned without creating values, and may be invalid. */

export interface Range {
  readonly start: number;
  readonly end: number;
}

type Shape = "document" | "lines" | "events" | "data-stream-v4";

interface Member {
  /** The name of an object's member; null for items of an array. */
  readonly name: string | null;
  readonly from: number;
  readonly value: Range;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Locates paths in a text. Scanned objects and arrays are cached. */
export class Positions {
  private readonly roots: readonly Range[];
  private readonly cache = new Map<number, readonly Member[]>();

  constructor(
    private readonly text: string,
    shape: Shape,
  ) {
    this.roots = rootsOf(text, shape);
    this.isMany = shape !== "document";
  }

  private readonly isMany: boolean;

  /** The range of a path, including the member's name; of its longest existing prefix if the path does not exist. */
  locate(path: string): Range | null {
    let rest = path.replace(/^(?:\$|messages(?=\[))/, "");
    let root = this.roots[0];
    if (this.isMany) {
      const index = /^\[(\d+)\]/.exec(rest);
      if (!index) return null;
      root = this.roots[Number(index[1])];
      rest = rest.slice(index[0].length);
    }
    return root ? this.follow(root, rest) : null;
  }

  /** The range of a line or an event. */
  root(index: number): Range | null {
    return this.roots[index] ?? null;
  }

  private follow(root: Range, path: string): Range {
    let value = root;
    let found = root;
    let rest = path;
    // Paths refer to a single message as the first of a list.
    if (!this.isMany && this.text.charAt(root.start) !== "[") rest = rest.replace(/^\[0\]/, "");
    while (rest) {
      const step = this.step(value, rest);
      if (!step) break;
      value = step.member.value;
      found = { start: step.member.from, end: value.end };
      rest = rest.slice(step.length);
    }
    return found;
  }

  private step(value: Range, rest: string): { member: Member; length: number } | null {
    const members = this.members(value);
    const index = /^\[(\d+)\]/.exec(rest);
    if (index) {
      const member = members[Number(index[1])];
      return member && member.name === null ? { member, length: index[0].length } : null;
    }
    // Names are not escaped in paths and may contain dots: the longest match wins.
    let best: { member: Member; length: number } | null = null;
    for (const member of members) {
      if (member.name === null) continue;
      const length = member.name.length + 1;
      if (!rest.startsWith(`.${member.name}`) || !/^(?:$|[.[])/.test(rest.slice(length, length + 1)))
        continue;
      if (!best || length > best.length) best = { member, length };
    }
    return best;
  }

  private members(value: Range): readonly Member[] {
    const known = this.cache.get(value.start);
    if (known) return known;
    const members = membersOf(this.text, value.start);
    this.cache.set(value.start, members);
    return members;
  }
}

function rootsOf(text: string, shape: Shape): readonly Range[] {
  if (shape === "events") return eventsOf(text);
  if (shape === "document") {
    const start = skipBlank(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
    return start < text.length ? [{ start, end: skipValue(text, start) }] : [];
  }
  return linesOf(text).filter(
    ({ start, end }) => text.slice(start, Math.min(end, start + 200)).trim() !== "",
  );
}

/** The lines of a text without line endings. */
export function linesOf(text: string): readonly Range[] {
  const lines: Range[] = [];
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    lines.push({ start, end: end > start && text.charCodeAt(end - 1) === 0x0d ? end - 1 : end });
    start = end + 1;
  }
  return lines;
}

/** The data of server-sent events except `[DONE]`. */
function eventsOf(text: string): readonly Range[] {
  const events: Range[] = [];
  let open: Range | undefined;
  for (const { start, end } of [...linesOf(text), { start: 0, end: 0 }]) {
    if (start === end) {
      if (open && text.slice(open.start, open.start + 10).trim() !== "[DONE]") events.push(open);
      open = undefined;
    } else if (text.startsWith("data:", start)) {
      const from = text.charAt(start + 5) === " " ? start + 6 : start + 5;
      open = { start: open?.start ?? from, end };
    }
  }
  return events;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** The end of the string that starts at `from`. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** The end of the value that starts at `from`. Not recursive, so that depth is not limited. */
export function skipValue(text: string, from: number): number {
  const first = text.charAt(from);
  if (first === '"') return skipString(text, from);
  if (first !== "{" && first !== "[") {
    let at = from;
    while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at++;
    return at;
  }
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth++;
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at + 1;
    at++;
  }
  return text.length;
}

function membersOf(text: string, start: number): readonly Member[] {
  const first = text.charAt(start);
  if (first !== "{" && first !== "[") return [];
  const members: Member[] = [];
  let at = skipBlank(text, start + 1);
  while (at < text.length && !/[\]}]/.test(text.charAt(at))) {
    const from = at;
    let name: string | null = null;
    if (first === "{") {
      const end = skipString(text, at);
      name = nameOf(text.slice(at, end));
      at = skipBlank(text, skipBlank(text, end) + 1);
    }
    const end = skipValue(text, at);
    members.push({ name, from, value: { start: at, end } });
    at = skipBlank(text, end);
    if (text.charAt(at) === ",") at = skipBlank(text, at + 1);
    else break;
  }
  return members;
}

function nameOf(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    return json.slice(1, -1);
  }
}
