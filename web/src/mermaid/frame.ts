/** The frame that draws diagrams. It has no origin, nothing to fetch, and tells the page above it a height alone. */
import mermaid from "mermaid";
import type { Asked, Drawn } from "../markdown/mermaidTalk";

const tell = (drawn: Drawn): void => window.parent.postMessage(drawn, "*");

const SECURE = [
  "secure",
  "securityLevel",
  "startOnLoad",
  "maxTextSize",
  "maxEdges",
  "suppressErrorRendering",
  "htmlLabels",
  "flowchart",
  "theme",
  "themeCSS",
  "themeVariables",
  "fontFamily",
  "altFontFamily",
  "dompurifyConfig",
] as const;

function configure({ colours, dark }: Asked): void {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: "base",
    maxTextSize: 50_000,
    maxEdges: 1000,
    suppressErrorRendering: true,
    htmlLabels: false, // words are drawn as words: markup in them would be made before it is cleaned
    flowchart: { htmlLabels: false },
    // What a diagram may not say about how it is drawn; the rest of the list is the library's own.
    secure: [...SECURE],
    fontFamily: "system-ui, sans-serif",
    themeVariables: {
      darkMode: dark,
      background: colours.ground,
      primaryColor: colours["accent-wash"],
      primaryTextColor: colours.text,
      primaryBorderColor: colours.accent,
      secondaryColor: colours["violet-wash"],
      tertiaryColor: colours.sunken,
      lineColor: colours["text-soft"],
      textColor: colours.text,
      noteBkgColor: colours["warn-wash"],
      noteTextColor: colours.text,
      fontSize: "14px",
    },
  });
}

let drawing = Promise.resolve();
let count = 0;

/** Tags without their attributes. The library reads labels as markup before it cleans them. */
const bare = (source: string): string => source.replace(/<([a-z][\w-]*)[\s/][^<>]*>/gi, "<$1>");

async function draw(asked: Asked): Promise<void> {
  const place = document.getElementById("diagram");
  if (!place) return;
  try {
    // A frame of another scheme than the page around it would have a ground of its own.
    document.documentElement.style.colorScheme = asked.dark ? "dark" : "light";
    configure(asked);
    count += 1;
    const { svg } = await mermaid.render(`d${count}`, bare(asked.source));
    place.innerHTML = svg;
    const drawn = place.querySelector("svg");
    tell({ type: "drawn", height: (drawn?.getBoundingClientRect().height ?? 0) + 8 });
  } catch (error) {
    place.replaceChildren();
    tell({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

window.addEventListener("message", (event: MessageEvent<Asked>) => {
  if (event.source !== window.parent || typeof event.data?.source !== "string") return;
  drawing = drawing.then(() => draw(event.data));
});
tell({ type: "ready" });
