/** The AI SDK at work for one thread. It is loaded when a thread becomes live, and draws nothing. */
import { useChat } from "@ai-sdk/react";
import type { UIMessage } from "ai";
import { useEffect, useMemo } from "react";
import type { LiveOptions, LiveState } from "./live";
import { THROTTLE, Work } from "./work";

interface Props {
  readonly threadId: string;
  /** A run is at work: follow it. */
  readonly resume: boolean;
  readonly options: { readonly current: LiveOptions };
  readonly onState: (state: LiveState) => void;
  readonly onReady: (work: Work) => void;
}

export default function Engine({ threadId, resume, options, onState, onReady }: Props) {
  const work = useMemo(() => new Work(threadId, options, onState), [threadId, options, onState]);
  const chat = useChat<UIMessage>({
    id: threadId,
    transport: work.transport,
    resume,
    throttle: THROTTLE,
    onData: (part) => work.hear(part),
    onToolCall: ({ toolCall }) => work.run(toolCall),
    onFinish: (end) => work.finished(end),
    onError: (error) => work.failed(error),
    sendAutomaticallyWhen: ({ messages }) => work.goesOn(messages),
  });
  work.chat = chat;
  const { messages, status, error } = chat;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever one of these changes, it is told
  useEffect(() => work.tell(), [work, messages, status, error]);
  useEffect(() => {
    work.open();
    onReady(work);
    return () => work.close();
  }, [work, onReady]);
  return null;
}
