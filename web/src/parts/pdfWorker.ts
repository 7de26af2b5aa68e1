/** The worker that reads PDFs: the only script that the page starts by its address. */
import address from "pdfjs-dist/build/pdf.worker.min.mjs?url";

/** The policy that the server's header allows, and no other. */
const NAME = "partita-worker";

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string; // to the browser it is more than a string
  };
}

/** The address of the worker; any other is refused. */
export function workerAddress(url: string): string {
  if (new URL(url, document.baseURI).href !== new URL(address, document.baseURI).href)
    throw new TypeError(`The page starts no script from ${url}`);
  return url;
}

// Browsers that know no such policies take the address as it is.
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy(NAME, {
  createScriptURL: workerAddress,
});

export const startWorker = (): Worker =>
  new Worker(policy ? policy.createScriptURL(address) : workerAddress(address), { type: "module" });
