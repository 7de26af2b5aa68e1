// @vitest-environment happy-dom
import address from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { describe, expect, it } from "vitest";
import { workerUrl } from "../../src/parts/pdfWorker";

describe("the URL of a worker", () => {
  it("is accepted if it is that of the page's worker", () => {
    expect(workerUrl(address)).toBe(address);
    expect(workerUrl(new URL(address, document.baseURI).href)).toContain("pdf.worker");
  });

  it.each([
    "https://example.org/pdf.worker.min.mjs",
    "data:text/javascript,alert(1)",
    "blob:http://localhost/1",
    "/assets/index.js",
    `${address}?other`,
    "",
  ])("is rejected otherwise: %s", (url) => {
    expect(() => workerUrl(url)).toThrow("does not start scripts");
  });
});
