// A component on the page that uses `useChat`, and the state that it has rendered.

import { createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';

import { change, notify } from './page.mjs';

const SETTLED = ['ready', 'error'];

function Component({ release, options, tick, onDrawn }) {
  const chat = release.useChat(options);
  useEffect(() => onDrawn(chat, tick));
  return null;
}

export class View {
  #release;
  #options;
  #root = createRoot(document.createElement('div'));
  #tick = 0;
  #running = 0;
  #chat;
  #drawn = 0;
  statuses = [];
  finished = [];
  rejected = [];

  constructor(release, options) {
    this.#release = release;
    this.#options = { ...options, onFinish: event => this.#finish(event) };
  }

  /** Render the component with all changes so far; resolves when it is rendered. */
  async draw() {
    const tick = ++this.#tick;
    const props = { release: this.#release, options: this.#options, tick, onDrawn: this.#show };
    this.#root.render(createElement(Component, props));
    while (this.#drawn < tick) await change();
  }

  /** Call a function of `useChat`, such as `sendMessage`, without waiting for it. */
  call(method, args) {
    this.#running += 1;
    const call = Promise.resolve(this.#chat[method](...args));
    call.catch(error => this.rejected.push(String(error))).finally(() => {
      this.#running -= 1;
      notify();
    });
  }

  /** Whether all calls have returned and no response is pending. */
  get settled() {
    return this.#running === 0 && SETTLED.includes(this.#chat.status);
  }

  get state() {
    const { messages, status, error } = this.#chat;
    const { statuses, finished, rejected } = this;
    return { messages, status, error: error?.message ?? null, statuses, finished, rejected };
  }

  /** Unmount it, and close its connection as a browser does: releases 5 and 6 would continue to read. */
  async close() {
    this.#root.unmount();
    await this.#chat.stop();
  }

  #show = (chat, tick) => {
    this.#chat = chat;
    this.#drawn = tick;
    if (this.statuses.at(-1) !== chat.status) this.statuses.push(chat.status);
    notify();
  };

  #finish({ isAbort, isDisconnect, isError, finishReason }) {
    this.finished.push({ isAbort, isDisconnect, isError, finishReason });
  }
}
