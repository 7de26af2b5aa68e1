/** Where in a text the value of a path stands. JSON is walked, not read: no value is made of it. */

export interface Range {
  readonly start: number;
  readonly end: number;
}

export type Shape = "document" | "lines" | "events" | "data-stream-v4";

interface Member {
  /** Of an object: the name, and where its string begins. */
  readonly name: string | null;
  readonly from: number;
  readonly value: Range;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A text, and the paths into it. What was walked once is remembered. */
export class Positions {
  private readonly roots: readonly Range[];
  private readonly known = new Map<number, readonly Member[]>();

  constructor(
    private readonly text: string,
    shape: Shape,
  ) {
    this.roots = rootsOf(text, shape);
    this.isMany = shape !== "document";
  }

  private readonly isMany: boolean;

  /** Where a path leads, with the name of the member; as far as it leads if it breaks off. Null: nowhere. */
  locate(path: string): Range | null {
    let rest = path.replace(/^\$/, "");
    let root = this.roots[0];
    if (this.isMany) {
      const index = /^\[(\d+)\]/.exec(rest);
      if (!index) return null;
      root = this.roots[Number(index[1])];
      rest = rest.slice(index[0].length);
    }
    return root ? this.follow(root, rest) : null;
  }

  /** The value number `index` of many: a line, an event. */
  root(index: number): Range | null {
    return this.roots[index] ?? null;
  }

  private follow(root: Range, path: string): Range {
    let value = root;
    let found = root;
    let rest = path;
    // One message alone is told of as the first of a list.
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
    // Names stand in a path as they are, dots and all: the longest that fits is meant.
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
    const known = this.known.get(value.start);
    if (known) return known;
    const members = membersOf(this.text, value.start);
    this.known.set(value.start, members);
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

/** The lines of a text, without their ends. */
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

/** The data of server-sent events, but for the one that says that it is done. */
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

/** Where the string that begins at `from` has ended. */
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

/** Where the value that begins at `from` has ended. However deep it is: nothing is called again. */
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

function nameOf(written: string): string {
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}
