// A page: a document for React to draw in, a `fetch` that knows where the page comes from, and the news of it.

import { Window } from 'happy-dom';

const window = new Window();
globalThis.window = window;
globalThis.document = window.document;
globalThis.navigator ??= window.navigator; // Node has one from 21 on

const listeners = new Set();

/** Resolves when something on the page changes. */
export function change() {
  return new Promise(resolve => listeners.add(resolve));
}

/** Say that something has changed. */
export function tell() {
  const told = [...listeners];
  listeners.clear();
  for (const listener of told) listener();
}

const nodeFetch = globalThis.fetch;
let origin;

/** What was asked of the server: `{method, path, body, status}`, without a status while there is no answer. */
export const requests = [];

/** A new page from a server, on which nothing has been asked for yet. */
export function visit(url) {
  origin = url;
  requests.length = 0;
}

// As in a browser, a path is one of the page's own server; otherwise it is the fetch of Node, which streams.
globalThis.fetch = async (target, options = {}) => {
  const url = new URL(target, origin);
  const request = { method: options.method ?? 'GET', path: url.pathname, body: options.body };
  requests.push(request);
  const response = await nodeFetch(url, options);
  request.status = response.status;
  tell();
  return response;
};
