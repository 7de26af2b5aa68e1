/** Decodes HTML character references: numeric ones and common named ones. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    copy: "©",
    reg: "®",
    trade: "™",
    hellip: "…",
    mdash: "—",
    ndash: "–",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    laquo: "«",
    raquo: "»",
    bull: "•",
    middot: "·",
    times: "×",
    divide: "÷",
    plusmn: "±",
    deg: "°",
    para: "¶",
    sect: "§",
    euro: "€",
    pound: "£",
    yen: "¥",
    cent: "¢",
    larr: "←",
    uarr: "↑",
    rarr: "→",
    darr: "↓",
    harr: "↔",
    rArr: "⇒",
    le: "≤",
    ge: "≥",
    ne: "≠",
    infin: "∞",
    check: "✓",
    alpha: "α",
    beta: "β",
    gamma: "γ",
    delta: "δ",
    lambda: "λ",
    mu: "μ",
    pi: "π",
    sigma: "σ",
    omega: "ω",
  }),
);

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]\w{1,7}));/gi, (whole, decimal, hex, name) => {
    if (name) return NAMED.get(name) ?? whole;
    return character(decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16));
  });
}

const character = (code: number): string =>
  code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\ufffd" : String.fromCodePoint(code);
