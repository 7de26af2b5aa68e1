// @vitest-environment happy-dom
import address from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { describe, expect, it } from "vitest";
import { workerAddress } from "../../src/parts/pdfWorker";

describe("the address of a worker", () => {
  it("is let through when it is that of the page's own", () => {
    expect(workerAddress(address)).toBe(address);
    expect(workerAddress(new URL(address, document.baseURI).href)).toContain("pdf.worker");
  });

  it.each([
    "https://example.org/pdf.worker.min.mjs",
    "data:text/javascript,alert(1)",
    "blob:http://localhost/1",
    "/assets/index.js",
    `${address}?other`,
    "",
  ])("is refused when it is any other: %s", (url) => {
    expect(() => workerAddress(url)).toThrow("starts no script");
  });
});
