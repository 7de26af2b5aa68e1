/** Marking what was searched for in the lines that were found. */

/**
 * The words a pattern surely looks for. Patterns are not run: one from a stranger against a text from a stranger
 * can take for ever.
 */
export function literals(pattern: string): string[] {
  return pattern
    .split("|")
    .map((one) => literal(one.replace(/^[\^(]+|[$)]+$/g, "").replaceAll("\\b", "")))
    .filter((one) => one.length > 1);
}

/** The words that a pattern is, when it is nothing but words. */
function literal(pattern: string): string {
  if (/\\[^.()[\]{}*+?^$/"'-]/.test(pattern)) return "";
  const isPlain = !/[\\[\](){}*+?^$.]/.test(pattern.replace(/\\./g, ""));
  return isPlain ? pattern.replace(/\\(.)/g, "$1").toLowerCase() : "";
}

/** A text in pieces, those that were looked for marked. */
export function markedPieces(text: string, words: readonly string[]): { text: string; hit: boolean }[] {
  const low = text.toLowerCase();
  if (!words.length || low.length !== text.length) return [{ text, hit: false }];
  const pieces: { text: string; hit: boolean }[] = [];
  let from = 0;
  while (from < text.length) {
    let at = -1;
    let length = 0;
    for (const one of words) {
      const place = low.indexOf(one, from);
      if (place >= 0 && (at < 0 || place < at)) [at, length] = [place, one.length];
    }
    if (at < 0) break;
    if (at > from) pieces.push({ text: text.slice(from, at), hit: false });
    pieces.push({ text: text.slice(at, at + length), hit: true });
    from = at + length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}
