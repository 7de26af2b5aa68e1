/** Checks of an exported HTML file. Each function runs in the browser and must not use anything outside it. */

interface Part {
  readonly type: string;
  readonly text?: unknown;
  readonly parts?: readonly Part[];
  readonly children?: readonly Message[];
}

interface Message {
  readonly id: string;
  readonly content: { readonly parts: readonly Part[] };
}

export interface Found {
  readonly missing: string[];
  readonly messages: number;
  readonly parts: number;
}

/** Waits until all messages have rendered, and expands everything that is collapsed or truncated. */
export async function expandAll(): Promise<void> {
  const end = performance.now() + 60_000;
  const frame = () => {
    if (performance.now() > end) throw new Error("the messages did not render within a minute");
    return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  };
  const buttons = () => [...document.querySelectorAll<HTMLElement>("section button")];
  while (!document.querySelector('section[aria-busy="false"]')) await frame();
  document.querySelector<HTMLElement>('button[aria-label="Expand all"]')?.click();
  while (!document.querySelector('button[aria-label="Collapse all"]')) await frame();
  for (let round = 0; round < 40; round += 1) {
    await frame();
    const closed = buttons().filter(
      (one) => one.ariaExpanded === "false" || /^Show (?:all|more (?:of|\())/.test(one.textContent ?? ""),
    );
    if (!closed.length) break;
    for (const one of closed) one.click();
  }
}

/** The messages, parts and words in the data of a file that are not displayed. */
export function missingIn(): Found {
  const missing: string[] = [];
  let messages = 0;
  let parts = 0;
  const places = new Map<string, Element>();
  for (const one of document.querySelectorAll("[data-place]"))
    places.set(one.getAttribute("data-place") ?? "", one);
  const letters = (text: string) =>
    text
      .normalize()
      .replace(/[^\p{L}\p{N}]+/gu, "")
      .toLowerCase();
  const shownIn = (element: Element) => {
    const attributes = [...element.querySelectorAll("[href], [alt], [title], [start]")].flatMap((one) =>
      ["href", "alt", "title", "start"].map((name) => one.getAttribute(name) ?? ""),
    );
    return letters([element.textContent, ...attributes, ...attributes.map(unescaped)].join(" "));
  };
  const unescaped = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const wordsOf = (text: string) => {
    // The browser generates list numbers and decodes entities. Text in tags such as <environment_context> has a label.
    const source = text
      .normalize()
      .replace(/<\/?[a-z]+(?:[_-][a-z]+)+>/g, " ")
      .replace(/^[>\s*+-]*\d+[.)]\s/gm, " ")
      .replace(/&[a-z]+\d*;|&#x?[\da-f]+;/gi, " ");
    return new Set(
      source
        .split(/[^\p{L}\p{N}]+/u)
        .map(letters)
        .filter(Boolean),
    );
  };
  const checkParts = (messageId: string, path: string, list: readonly Part[]) => {
    list.forEach((part, index) => {
      const place = `${path}${path && "."}${index}`;
      const element = places.get(`${messageId}/${place}`);
      parts += 1;
      if (!element) {
        missing.push(`part ${messageId}/${place} (${part.type})`);
        return;
      }
      if (typeof part.text === "string" && (part.type === "text" || part.type === "reasoning")) {
        const shown = shownIn(element);
        const lost = [...wordsOf(part.text)].filter((word) => !shown.includes(word));
        if (lost.length) missing.push(`words of ${messageId}/${place}: ${lost.slice(0, 8).join(" ")}`);
      }
      if (part.parts) checkParts(messageId, `${place}.parts`, part.parts);
      part.children?.forEach((child, at) => {
        checkMessage(child, messageId, `${place}.children.${at}`);
      });
    });
  };
  const checkMessage = (message: Message, messageId: string, path: string) => {
    messages += 1;
    if (!places.has(path ? `${messageId}/${path}` : messageId)) missing.push(`message ${messageId} ${path}`);
    checkParts(messageId, path, message.content.parts);
  };
  const data = JSON.parse(document.getElementById("partita")?.textContent ?? "") as { messages: Message[] };
  for (const message of data.messages) checkMessage(message, message.id, "");
  return { missing, messages, parts };
}

/** The number of images, and of those that the browser cannot decode. */
export async function imagesIn(): Promise<{ pictures: number; unloaded: number }> {
  const pictures = [...document.querySelectorAll<HTMLImageElement>("section img")];
  for (const one of pictures) {
    one.loading = "eager"; // images far from the viewport would not be loaded
    await one.decode().catch(() => {});
  }
  return { pictures: pictures.length, unloaded: pictures.filter((one) => !one.naturalWidth).length };
}

/** Scripts that ran, and elements and links that the text of messages must not create. */
export function unexpectedElements(): readonly string[] {
  const elements = document.querySelectorAll(
    "#root :is(script, style, link, meta, base, object, embed, iframe, form, a[href^='javascript:' i])",
  );
  const hit = "hit" in window ? ["a script of a message ran"] : [];
  return [...hit, ...[...elements].map((one) => one.outerHTML.slice(0, 200))];
}
