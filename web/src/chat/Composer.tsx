import { ArrowUp, Paperclip, Square } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { type AgentInfo, useAgents } from "../api/agents";
import { Problem } from "../api/client";
import type { Thread } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { useCommands } from "../ui/commands";
import { toastError } from "../ui/Toasts";
import { AgentPicker } from "./AgentPicker";
import { Attachments } from "./Attachments";
import { blockedReason } from "./agentChoice";
import { useAttachments } from "./attachments";
import styles from "./Composer.module.css";
import { useDraft } from "./draft";
import { ForkAndContinue } from "./ForkAndContinue";
import type { Live, LiveStatus, OutgoingMessage } from "./live";

/** The members of a live thread that a composer uses. */
export type ComposerActions = Pick<Live, "busy" | "status" | "error" | "send" | "stop">;

interface Props {
  readonly live: ComposerActions;
  /** The thread to continue; absent for a new chat. */
  readonly thread?: Thread;
  readonly agent: string | undefined;
  /** Called when the user selects another agent; absent if the agent is selected elsewhere. */
  readonly onChoose?: (agent: string) => void;
  readonly autoFocus?: boolean;
}

const STATUS_TEXT: Readonly<Record<LiveStatus, string>> = {
  idle: "",
  sending: "Sending …",
  streaming: "Responding …",
  waiting: "The agent is waiting for your approval above.",
  reconnecting: "The server does not respond. Retrying …",
};

const MAX_HEIGHT = 260;

/** The input for messages. Enter sends, Shift+Enter starts a new line. */
export function Composer({ live, thread, agent, onChoose, autoFocus = false }: Props) {
  const { data: agents } = useAgents();
  if (!agents) return null;
  const blocked = blockedReason(thread, agents);
  if (blocked && thread) return <ForkAndContinue thread={thread} agents={agents} reason={blocked} />;
  return <ComposerForm {...{ live, thread, agent, onChoose, autoFocus, agents, blocked }} />;
}

interface FormProps extends Props {
  readonly agents: readonly AgentInfo[];
  readonly blocked: string | null;
}

function ComposerForm({ live, thread, agent, onChoose, autoFocus, agents, blocked }: FormProps) {
  const [text, setText] = useDraft(thread?.id ?? "new");
  const { files, add, remove, set } = useAttachments();
  const [over, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const canSend = !live.busy && !blocked && agent !== undefined && (text.trim() !== "" || files.length > 0);

  useAutoHeight(area, text);
  useEffect(() => {
    if (autoFocus) area.current?.focus();
  }, [autoFocus]);
  useCommands([{ keys: "c", what: "Write a message", group: "Chat", run: () => area.current?.focus() }]);

  const send = () => {
    if (!canSend) return;
    const message: OutgoingMessage = {
      text: text.trim(),
      files: files.map(({ url, mediaType, filename }) => ({ url, mediaType, filename })),
      agent,
    };
    setText("");
    set([]);
    live.send(message).catch((error: unknown) => {
      // Restores the message unless the user has written something else since.
      if (!area.current?.value) {
        setText(message.text);
        set(files);
      }
      if (!(error instanceof Problem)) toastError(error);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // In an input method editor, Enter accepts the composed word.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229)
      return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    void add([...event.clipboardData.files]).catch(toastError);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void add([...event.dataTransfer.files]).catch(toastError);
  };

  return (
    <form
      className={styles.composer}
      data-over={over || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <div className={styles.box}>
        <Attachments files={files} onRemove={remove} />
        <textarea
          ref={area}
          className={styles.text}
          rows={1}
          value={text}
          placeholder={thread ? "Reply …" : "Ask something …"}
          aria-label="Message"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className={styles.line}>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-hidden
            tabIndex={-1}
            onChange={(event) => {
              void add([...(event.target.files ?? [])]).catch(toastError);
              event.target.value = "";
            }}
          />
          <IconButton label="Attach files" onClick={() => picker.current?.click()}>
            <Paperclip size={16} />
          </IconButton>
          {onChoose && <AgentPicker agents={agents} value={agent} onChange={onChoose} disabled={live.busy} />}
          <Status live={live} blocked={blocked} />
          {live.busy ? (
            <button type="button" className={styles.stop} onClick={() => live.stop().catch(toastError)}>
              <Square size={12} fill="currentColor" aria-hidden />
              Stop
            </button>
          ) : (
            <button
              type="submit"
              className={styles.send}
              disabled={!canSend}
              aria-label="Send"
              title="Send (Enter)"
            >
              <ArrowUp size={18} aria-hidden />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

function Status({ live, blocked }: { live: ComposerActions; blocked: string | null }) {
  const { error } = live;
  const hint = error instanceof Problem && error.hint;
  return (
    <span className={styles.status} role="status">
      {error ? (
        <span className={styles.error}>{hint ? `${error.message} ${hint}` : error.message}</span>
      ) : (
        (blocked ?? STATUS_TEXT[live.status])
      )}
    </span>
  );
}

/** Fits the height of a text area to its text. */
function useAutoHeight(area: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height depends on the text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT)}px`;
  }, [area, text]);
}
