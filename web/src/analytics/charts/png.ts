/** Renders a chart as PNG: a copy with its computed colours, drawn on a canvas. */

const SVG = "http://www.w3.org/2000/svg";
const STYLE_PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "display",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;
const SCALE = 2;
const MARGIN = 16;
const TITLE_HEIGHT = 34;
const ENTRY_HEIGHT = 20;

/** An entry of a legend. */
export interface Entry {
  readonly name: string;
  /** The number of the colour of its series. */
  readonly colour: number;
}

/** A copy of an element with computed styles as attributes. */
function inlined(element: Element): Element {
  const copy = element.cloneNode(true) as Element;
  const originals = [element, ...element.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, index) => {
    const style = getComputedStyle(original);
    for (const name of STYLE_PROPERTIES) {
      const value = style.getPropertyValue(name);
      if (value && !value.startsWith("url(")) copies[index]?.setAttribute(name, value);
    }
    copies[index]?.removeAttribute("class");
  });
  return copy;
}

/** Composes title, chart and legend on the background of the page. */
export function composeImage(svg: SVGSVGElement, title: string, legend: readonly Entry[]): SVGSVGElement {
  const root = getComputedStyle(document.documentElement);
  const colour = (name: string) => root.getPropertyValue(name).trim();
  const { width, height } = svg.getBoundingClientRect();
  const size = [
    width + 2 * MARGIN,
    height + TITLE_HEIGHT + 2 * MARGIN + (legend.length && ENTRY_HEIGHT * legend.length + 8),
  ];
  const image = createElement("svg", {
    xmlns: SVG,
    width: size[0],
    height: size[1],
    viewBox: `0 0 ${size.join(" ")}`,
  });
  image.setAttribute("font-family", "system-ui, sans-serif");
  image.append(createElement("rect", { width: size[0], height: size[1], fill: colour("--surface") }));
  image.append(text(title, MARGIN, MARGIN + 16, colour("--text"), 15));
  const chart = inlined(svg);
  for (const [name, value] of Object.entries({ x: MARGIN, y: MARGIN + TITLE_HEIGHT, width, height }))
    chart.setAttribute(name, String(value));
  image.append(chart);
  legend.forEach(({ name, colour: series }, index) => {
    const y = MARGIN + TITLE_HEIGHT + height + 8 + index * ENTRY_HEIGHT;
    const fill = colour(`--series-${series + 1}`);
    image.append(createElement("rect", { x: MARGIN, y, width: 12, height: 12, rx: 2, fill }));
    image.append(text(name, MARGIN + 20, y + 11, colour("--text-soft"), 12));
  });
  return image as SVGSVGElement;
}

function createElement(name: string, attributes: Record<string, string | number | undefined>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function text(words: string, x: number, y: number, fill: string, size: number): SVGElement {
  const element = createElement("text", { x, y, fill, "font-size": size });
  element.textContent = words;
  return element;
}

/** Renders an image as PNG at twice its size. */
export async function toPng(image: SVGSVGElement): Promise<Blob> {
  const width = Number(image.getAttribute("width"));
  const height = Number(image.getAttribute("height"));
  const source = new Blob([new XMLSerializer().serializeToString(image)], { type: "image/svg+xml" });
  const url = URL.createObjectURL(source);
  try {
    const bitmap = new Image();
    bitmap.src = url;
    await bitmap.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * SCALE);
    canvas.height = Math.ceil(height * SCALE);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser does not support canvas.");
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("The image could not be created.");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}
