// One release of the AI SDK: `useChat`, and the `ai` package that it depends on.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The release of a major version: `{useChat, sdk}`. */
export async function load(version) {
  const { useChat } = await import(`use-chat-${version}`);
  return { useChat, sdk: await import(sdkOf(`use-chat-${version}`)) };
}

/** The location of the `ai` package of a package. Each has a different version. */
function sdkOf(name) {
  const here = createRequire(import.meta.url);
  const manifest = createRequire(here.resolve(`${name}/package.json`)).resolve('ai/package.json');
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  return new URL(exports['.'].import, pathToFileURL(manifest)).href;
}
