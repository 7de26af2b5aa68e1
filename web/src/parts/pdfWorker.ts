/** The worker that parses PDFs: the only script that the page starts by its URL. */
import address from "pdfjs-dist/build/pdf.worker.min.mjs?url";

/** The only Trusted Types policy that the server's Content-Security-Policy header allows. */
const NAME = "partita-worker";

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string; // in the browser a TrustedScriptURL
  };
}

/** Returns the URL of the worker; throws for any other URL. */
export function workerUrl(url: string): string {
  if (new URL(url, document.baseURI).href !== new URL(address, document.baseURI).href)
    throw new TypeError(`The page does not start scripts from ${url}`);
  return url;
}

// Browsers without Trusted Types accept a string.
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy(NAME, {
  createScriptURL: workerUrl,
});

export const startWorker = (): Worker =>
  new Worker(policy ? policy.createScriptURL(address) : workerUrl(address), { type: "module" });
