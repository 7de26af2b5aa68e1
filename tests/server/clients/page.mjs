// A page: a document for React to render in, a `fetch` relative to the server of the page, and change events.

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

/** Notify all listeners of a change. */
export function notify() {
  const waiting = [...listeners];
  listeners.clear();
  for (const listener of waiting) listener();
}

const nodeFetch = globalThis.fetch;
let origin;

/** The requests to the server: `{method, path, body, status}`, without a status until the response. */
export const requests = [];

/** Open a page of a server, without requests. */
export function visit(url) {
  origin = url;
  requests.length = 0;
}

// As in a browser, paths are relative to the server of the page. Otherwise this is the fetch of Node.
globalThis.fetch = async (target, options = {}) => {
  const url = new URL(target, origin);
  const request = { method: options.method ?? 'GET', path: url.pathname, body: options.body };
  requests.push(request);
  const response = await nodeFetch(url, options);
  request.status = response.status;
  notify();
  return response;
};
