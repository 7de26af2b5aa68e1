/** Marks the matches of a search pattern in the lines that were found. */

/**
 * The literal texts of a pattern. The pattern is not executed: an untrusted regular expression can take exponential
 * time.
 */
export function literals(pattern: string): string[] {
  return pattern
    .split("|")
    .map((one) => literal(one.replace(/^[\^(]+|[$)]+$/g, "").replaceAll("\\b", "")))
    .filter((one) => one.length > 1);
}

/** The pattern as text if it has no special characters, else an empty string. */
function literal(pattern: string): string {
  if (/\\[^.()[\]{}*+?^$/"'-]/.test(pattern)) return "";
  const isPlain = !/[\\[\](){}*+?^$.]/.test(pattern.replace(/\\./g, ""));
  return isPlain ? pattern.replace(/\\(.)/g, "$1").toLowerCase() : "";
}

/** Splits a text at the matches. */
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
