// One release of the AI SDK: `useChat`, and the `ai` package that this very `useChat` is built on.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The release of a major version: `{useChat, sdk}`. */
export async function load(version) {
  const { useChat } = await import(`use-chat-${version}`);
  return { useChat, sdk: await import(sdkOf(`use-chat-${version}`)) };
}

/** Where the `ai` of a package is. Each brings its own, and only one of them can lie in the top folder. */
function sdkOf(name) {
  const here = createRequire(import.meta.url);
  const manifest = createRequire(here.resolve(`${name}/package.json`)).resolve('ai/package.json');
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  return new URL(exports['.'].import, pathToFileURL(manifest)).href;
}
