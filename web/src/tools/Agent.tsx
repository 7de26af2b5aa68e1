import { isActive, useRenderContext } from "../context/renderContext";
import { Markdown } from "../markdown/Markdown";
import { CopyButton } from "../ui/CopyButton";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import styles from "./Agent.module.css";
import { childrenOf, isLastMessage, networkOf, startsWithPrompt } from "./agents";
import type { BodyProps } from "./bodies";
import { type Call, textOf } from "./call";
import { JsonTree } from "./JsonTree";
import { parseJson } from "./json";
import { hasOutput, TextOutput } from "./Output";
import { Section } from "./Section";
import { stateOf } from "./states";
import { resultOf } from "./tags";

/** A sub-agent: its prompt, its messages and its result. */
export function Agent({ call, place }: BodyProps<"agent">) {
  const context = useRenderContext();
  const { Messages } = context;
  const children = childrenOf(call.part);
  const prompt = textOf(call.part, call.view.prompt);
  return (
    <>
      {prompt && !startsWithPrompt(children, prompt) && (
        <Prompt text={prompt} isLive={call.part.state === "input-streaming"} />
      )}
      {children.length > 0 && (
        <Messages messages={children} place={place} open={hasCompleted(call, isActive(context))} />
      )}
      {hasOutput(call) && !isLastMessage(children, resultOf(call.content.text)) && (
        <TextOutput call={call} title="Result" shorten={resultOf} />
      )}
    </>
  );
}

/** An iteration of a network: the selected primitive, the reason and the result. */
export function Network({ call, place, isBusy }: BodyProps<"network">) {
  const context = useRenderContext();
  const { Messages } = context;
  const network = networkOf(call.part);
  if (!network) return null;
  const children = childrenOf(call.part);
  const result = network.finalResult;
  const prompt = textOf(call.part, call.view.prompt);
  const hasValue = result?.value !== undefined && typeof result.value !== "string";
  // Networks repeat their value as JSON text.
  const text = hasValue && parseJson(result?.text ?? "") !== undefined ? "" : (result?.text ?? "");
  return (
    <>
      {network.selectionReason && <p className={styles.reason}>Reason: {visible(network.selectionReason)}</p>}
      {prompt && !startsWithPrompt(children, prompt) && <Prompt text={prompt} isLive={false} />}
      {children.length > 0 && (
        <Messages
          messages={children}
          place={call.part.children?.length ? place : { ...place, path: `${place.path}.messages` }}
          open={hasCompleted(call, isActive(context))}
        />
      )}
      {text && !isLastMessage(children, text) && (
        <Section title="Result" aside={<CopyButton text={text} label="Copy result" />}>
          <Markdown text={text} live={isBusy} />
        </Section>
      )}
      {hasValue && <JsonTree value={result?.value} label="Result" />}
      {hasOutput(call) && !text && !hasValue && <TextOutput call={call} title="Result" />}
    </>
  );
}

/** Whether the call completed. Its card does not open automatically, so the user has opened it to see the messages. */
const hasCompleted = (call: Call, isAgentActive: boolean): boolean =>
  stateOf(call.part, isAgentActive).tone === "ok";

function Prompt({ text, isLive }: { text: string; isLive: boolean }) {
  return (
    <Section title="Prompt" aside={<CopyButton text={text} label="Copy prompt" />}>
      <ShowAll label="Prompt" size="small" what={plural(text.split("\n").length, "line")}>
        <Markdown text={text} live={isLive} breaks />
      </ShowAll>
    </Section>
  );
}
