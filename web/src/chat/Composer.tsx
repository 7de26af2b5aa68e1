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
import { useHotkeys } from "../ui/hotkeys";
import { toastError } from "../ui/Toasts";
import { AgentPicker } from "./AgentPicker";
import { Attachments } from "./Attachments";
import { useAttachments } from "./attachments";
import styles from "./Composer.module.css";
import { hindrance } from "./continuing";
import { useDraft } from "./draft";
import { ForkAndContinue } from "./ForkAndContinue";
import type { Live, LiveStatus, Sending } from "./live";

/** What a composer needs of a live thread; a new chat has nothing to stop. */
export type Speaking = Pick<Live, "busy" | "status" | "error" | "send" | "stop">;

interface Props {
  readonly live: Speaking;
  /** The thread that is gone on with; none: a new one is begun. */
  readonly thread?: Thread;
  readonly agent: string | undefined;
  /** Somebody else shall be asked; absent where that is decided elsewhere. */
  readonly onChoose?: (agent: string) => void;
  readonly autoFocus?: boolean;
}

const SAYS: Readonly<Record<LiveStatus, string>> = {
  idle: "",
  sending: "Sending …",
  streaming: "Answering …",
  waiting: "It has asked something, and goes on once you have answered above.",
  reconnecting: "The server does not answer. Trying again …",
};

const MOST_HEIGHT = 260;

/** Where one writes: Enter sends, Shift and Enter begin a new line. */
export function Composer({ live, thread, agent, onChoose, autoFocus = false }: Props) {
  const { data: agents } = useAgents();
  if (!agents) return null;
  const hindered = hindrance(thread, agents);
  if (hindered && thread) return <ForkAndContinue thread={thread} agents={agents} why={hindered} />;
  return <Writing {...{ live, thread, agent, onChoose, autoFocus, agents, hindered }} />;
}

interface WritingProps extends Props {
  readonly agents: readonly AgentInfo[];
  readonly hindered: string | null;
}

function Writing({ live, thread, agent, onChoose, autoFocus, agents, hindered }: WritingProps) {
  const [text, setText] = useDraft(thread?.id ?? "new");
  const { files, add, remove, set } = useAttachments();
  const [over, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const can = !live.busy && !hindered && agent !== undefined && (text.trim() !== "" || files.length > 0);

  useGrowing(area, text);
  useEffect(() => {
    if (autoFocus) area.current?.focus();
  }, [autoFocus]);
  useHotkeys([{ keys: "c", what: "Write a message", run: () => area.current?.focus() }]);

  const send = () => {
    if (!can) return;
    const what: Sending = {
      text: text.trim(),
      files: files.map(({ url, mediaType, filename }) => ({ url, mediaType, filename })),
      agent,
    };
    setText("");
    set([]);
    live.send(what).catch((error: unknown) => {
      // What was not sent is not lost, unless something else has been written since.
      if (!area.current?.value) {
        setText(what.text);
        set(files);
      }
      if (!(error instanceof Problem)) toastError(error);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a word is being composed, Enter takes the word.
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
          <Says live={live} hindered={hindered} />
          {live.busy ? (
            <button type="button" className={styles.stop} onClick={() => live.stop().catch(toastError)}>
              <Square size={12} fill="currentColor" aria-hidden />
              Stop
            </button>
          ) : (
            <button
              type="submit"
              className={styles.send}
              disabled={!can}
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

/** How it stands, in words. */
function Says({ live, hindered }: { live: Speaking; hindered: string | null }) {
  const { error } = live;
  const hint = error instanceof Problem && error.hint;
  return (
    <span className={styles.says} role="status">
      {error ? (
        <span className={styles.error}>{hint ? `${error.message} ${hint}` : error.message}</span>
      ) : (
        (hindered ?? SAYS[live.status])
      )}
    </span>
  );
}

/** A text area as high as what is in it. */
function useGrowing(area: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the text that changes the height
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, MOST_HEIGHT)}px`;
  }, [area, text]);
}
