"use client";

import { useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Message } from "./message";
import { Threads } from "./threads";

export function Chat({ id, initialMessages }: { id: string; initialMessages: UIMessage[] }) {
  const [text, setText] = useState("");
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({
    id,
    messages: initialMessages,
    resume: true, // a response that is still streaming continues after a reload
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === "submitted" || status === "streaming";

  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView();
  }, [messages]);

  function send(event: FormEvent) {
    event.preventDefault();
    if (!text.trim()) return;
    sendMessage({ text });
    setText("");
  }

  return (
    <main>
      <Threads current={id} changed={status} />
      <section>
        <div className="messages">
          {messages.map((message) => (
            <Message key={message.id} message={message} respond={addToolApprovalResponse} />
          ))}
          {error && <p className="error">{error.message}</p>}
          <div ref={end} />
        </div>
        <form onSubmit={send}>
          <input
            aria-label="Message"
            placeholder="Ask about the tide, for a berth, or for a story"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {isBusy ? (
            <button type="button" onClick={() => fetch(`/api/chat/${id}/stop`, { method: "POST" })}>
              Stop
            </button>
          ) : (
            <button type="submit">Send</button>
          )}
        </form>
      </section>
    </main>
  );
}
