/** What a terminal would make of its orders: colours as names of ours, lines written over each other folded. */
import Anser from "anser";
import { visible } from "../ui/hostile";

export const HUES = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
export type Hue = (typeof HUES)[number];

/** A piece of a line, and how it looks: words such as `red`, `bold`, `on-blue`, `inverse`. */
export interface Span {
  readonly text: string;
  readonly look: readonly string[];
}

const ESC = "\u001b";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the orders of a terminal begin with one
const LINK_OR_TITLE = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const NO_COLOUR = /\u001b(?:\[[0-?]*[ -/]*[@-ln-~]|[()*+][0-9A-Za-z]|[=>78cDEHMNOZ])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const COLOUR = /\u001b\[[0-9;:]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a letter printed, then stepped back over
const OVERSTRUCK = /[^\n\u0008]\u0008/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const RESETS = /^\u001b\[0*m$/;
const MOST_CARRIED = 16;

/** The orders that still hold at the end of a line, for the next one. */
export type Carry = readonly string[];

/** One line as spans. */
export function ansiLine(line: string, carry: Carry = []): { spans: Span[]; carry: Carry } {
  const text = folded(withoutMoves(line));
  if (!text.includes(ESC) && carry.length === 0) return { spans: plain(text), carry };
  const entries = Anser.ansiToJson(carry.join("") + text, {
    json: true,
    use_classes: true,
    remove_empty: true,
  });
  const spans = entries.map((entry) => ({ text: visible(entry.content), look: lookOf(entry) }));
  return { spans: spans.filter((span) => span.text), carry: carried(text, carry) };
}

const plain = (text: string): Span[] => (text ? [{ text: visible(text), look: [] }] : []);

const withoutMoves = (line: string): string =>
  line.includes(ESC) || line.includes("\b")
    ? line.replace(LINK_OR_TITLE, "").replace(NO_COLOUR, "").replace(OVERSTRUCK, "")
    : line;

function carried(text: string, carry: Carry): Carry {
  let held = [...carry];
  for (const [order] of text.matchAll(COLOUR)) held = RESETS.test(order) ? [] : [...held, order];
  return held.slice(-MOST_CARRIED);
}

/** What is left of a line whose beginning was written over, as by a bar of progress. */
export function folded(line: string): string {
  const text = line.replace(/\r+$/, "");
  if (!text.includes("\r")) return text;
  const tries = text.split("\r").filter(Boolean);
  if (text.includes(ESC)) return tries.at(-1) ?? "";
  return tries.reduce((before, after) => after + before.slice(after.length), "");
}

interface Entry {
  readonly fg: string | null;
  readonly bg: string | null;
  readonly fg_truecolor: string | null;
  readonly bg_truecolor: string | null;
  readonly decorations: readonly string[];
  readonly isInverted?: boolean;
}

function lookOf(entry: Entry): string[] {
  const front = colourOf(entry.fg, entry.fg_truecolor);
  const back = colourOf(entry.bg, entry.bg_truecolor);
  const decorations = entry.decorations.filter((one) =>
    ["bold", "dim", "italic", "underline", "strikethrough"].includes(one),
  );
  if (entry.isInverted) return [isHue(back) ? `on-${back}` : "inverse", ...decorations];
  return [
    ...(back ? [isHue(back) ? `on-${back}` : "on-grey"] : []),
    ...(front && !back ? [front] : []),
    ...decorations,
  ];
}

const isHue = (name: string | null): name is Hue => HUES.includes(name as Hue);

/** A colour of a terminal as one of ours, which can be read on every ground. */
function colourOf(name: string | null, rgb: string | null): Hue | "grey" | null {
  if (!name) return null;
  if (name === "ansi-truecolor") {
    const [red = 0, green = 0, blue = 0] = (rgb ?? "").split(",").map(Number);
    return nearest(red, green, blue);
  }
  const palette = /^ansi-palette-(\d+)$/.exec(name);
  if (palette) return ofPalette(Number(palette[1]));
  const plainName = name.replace(/^ansi-(?:bright-)?/, "");
  if (isHue(plainName)) return plainName;
  return name === "ansi-bright-black" ? "grey" : null;
}

function ofPalette(index: number): Hue | "grey" | null {
  if (index >= 232) return index < 248 ? "grey" : null;
  const cube = index - 16;
  const level = (step: number) => (step ? 55 + 40 * step : 0);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

const ANGLES: readonly (readonly [number, Hue])[] = [
  [20, "red"],
  [75, "yellow"],
  [165, "green"],
  [200, "cyan"],
  [260, "blue"],
  [335, "magenta"],
  [361, "red"],
];

function nearest(red: number, green: number, blue: number): Hue | "grey" | null {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range < 40) return most > 60 && most < 190 ? "grey" : null;
  const sixth =
    most === red
      ? ((green - blue) / range + 6) % 6
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return ANGLES.find(([end]) => sixth * 60 < end)?.[1] ?? "red";
}
