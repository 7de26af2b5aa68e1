/** Makes untrusted text and URLs safe to display and to follow. */

/** Invisible or misleading characters: controls, bidi overrides, zero-width characters, lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2028\u2029\ufff9-\ufffb]/gu;
const PLAIN = /^[\n\t\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff]*$/;

const JOINERS = /[\u200c\u200d]/;
const DIRECTION_MARKS = /[\u200e\u200f\u061c]/;
const VARIATION = /[\ufe00-\ufe0f]/;
const IDEOGRAPHIC_VARIATION = /[\u{e0100}-\u{e01ef}]/u;
const TAG = /[\u{e0020}-\u{e007f}]/u;

const BEFORE_EMOJI_JOINER = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u;
const EMOJI = /^[\p{Extended_Pictographic}\u2640\u2642]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
// Scripts whose letters change form next to a joiner.
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

const NEAR = 2; // UTF-16 units: one character on either side

/** The text with every suspicious character written as `⟦U+202E⟧`. Ordinary text is unchanged. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(INVISIBLE, (character: string, index: number) =>
    isOrdinary(character, text, index) ? character : `⟦U+${codeOf(character)}⟧`,
  );
}

const codeOf = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

function isOrdinary(character: string, text: string, index: number): boolean {
  if (character === "\n" || character === "\t") return true;
  const before = text.slice(Math.max(0, index - NEAR), index);
  const after = text.slice(index + character.length, index + character.length + NEAR);
  if (character === "\r") return after.startsWith("\n");
  if (JOINERS.test(character)) {
    if (character === "\u200d" && BEFORE_EMOJI_JOINER.test(before) && EMOJI.test(after)) return true;
    return JOINING.test(before);
  }
  if (DIRECTION_MARKS.test(character)) return RIGHT_TO_LEFT.test(before) || RIGHT_TO_LEFT.test(after);
  if (VARIATION.test(character)) return before !== "" && !VARIATION.test(before.slice(-1));
  if (IDEOGRAPHIC_VARIATION.test(character)) return /\p{Script=Han}$/u.test(before);
  return TAG.test(character) && isInFlag(text, index);
}

/** Whether a tag belongs to a flag emoji such as Scotland's: only tags between it and a black flag. */
function isInFlag(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 16), index);
  return /\u{1f3f4}[\u{e0020}-\u{e007e}]{0,7}$/u.test(before);
}

const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** The normalized URL if it is safe as a link, else null. Scripts, files and relative URLs are not. */
export function safeHref(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const found = new URL(url);
  return PROTOCOLS.has(found.protocol) ? found.href : null;
}

/** The attributes of every external link. */
export const EXTERNAL_LINK = { target: "_blank", rel: "noopener noreferrer nofollow" } as const;
