/** Interprets ANSI escape sequences: colours become class names, overwritten lines are merged. */
import Anser from "anser";
import { visible } from "../ui/sanitize";
import { COLOUR, ESC, merged, withoutOtherSequences } from "./ansiText";

const HUES = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
type Hue = (typeof HUES)[number];

/** A piece of a line and its styles: names such as `red`, `bold`, `on-blue`, `inverse`. */
export interface Span {
  readonly text: string;
  readonly styles: readonly string[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const RESETS = /^\u001b\[0*m$/;
const MAX_CARRIED = 16;

/** The colour sequences that are still active at the end of a line. */
export type Carry = readonly string[];

/** Converts a line into spans. */
export function ansiLine(line: string, carry: Carry = []): { spans: Span[]; carry: Carry } {
  const text = merged(withoutOtherSequences(line));
  if (!text.includes(ESC) && carry.length === 0) return { spans: plain(text), carry };
  const entries = Anser.ansiToJson(carry.join("") + text, {
    json: true,
    use_classes: true,
    remove_empty: true,
  });
  const spans = entries.map((entry) => ({ text: visible(entry.content), styles: stylesOf(entry) }));
  return { spans: spans.filter((span) => span.text), carry: carried(text, carry) };
}

const plain = (text: string): Span[] => (text ? [{ text: visible(text), styles: [] }] : []);

function carried(text: string, carry: Carry): Carry {
  let active = [...carry];
  for (const [sequence] of text.matchAll(COLOUR)) active = RESETS.test(sequence) ? [] : [...active, sequence];
  return active.slice(-MAX_CARRIED);
}

interface Entry {
  readonly fg: string | null;
  readonly bg: string | null;
  readonly fg_truecolor: string | null;
  readonly bg_truecolor: string | null;
  readonly decorations: readonly string[];
  readonly isInverted?: boolean;
}

function stylesOf(entry: Entry): string[] {
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

/** Maps a terminal colour to a colour of the theme, which is legible on every background. */
function colourOf(name: string | null, rgb: string | null): Hue | "grey" | null {
  if (!name) return null;
  if (name === "ansi-truecolor") {
    const [red = 0, green = 0, blue = 0] = (rgb ?? "").split(",").map(Number);
    return nearest(red, green, blue);
  }
  const palette = /^ansi-palette-(\d+)$/.exec(name);
  if (palette) return paletteColour(Number(palette[1]));
  const plainName = name.replace(/^ansi-(?:bright-)?/, "");
  if (isHue(plainName)) return plainName;
  return name === "ansi-bright-black" ? "grey" : null;
}

function paletteColour(index: number): Hue | "grey" | null {
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
