import { useContext } from "react";
import { useRenderContext } from "../context/renderContext";
import { Markdown } from "../markdown/Markdown";
import { CopyButton } from "../ui/CopyButton";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { Failure, Loading } from "../ui/States";
import { type Call, hasFailed, type LargeValue } from "./call";
import { Fields } from "./Fields";
import { JsonTree } from "./JsonTree";
import { isObject, parseJson, stringify } from "./json";
import { BlobText, LongText } from "./LongText";
import { Media } from "./Media";
import { OutputContext } from "./outputContext";
import { Section } from "./Section";
import { fieldsOf, withoutErrorTags, withoutWallTime } from "./tags";

/** Shorter texts are parsed as JSON: MCP tools return JSON as text. */
const MAX_JSON_LENGTH = 200_000;
/** Longer texts are not rendered as Markdown. */
const MAX_MARKDOWN_LENGTH = 60_000;

interface OutputProps {
  readonly call: Call;
  readonly label?: string;
  readonly colours?: boolean;
  readonly numbered?: number;
}

/** The output of a call. */
export function Output({ call, label = "Output", colours = false, numbered }: OutputProps) {
  return (
    <>
      <TextOrJson call={call} label={label} colours={colours} numbered={numbered} />
      <OtherOutput call={call} label={label} colours={colours} numbered={numbered} />
    </>
  );
}

function TextOrJson({ call, label = "Output", colours, numbered }: OutputProps) {
  const { value } = call.content;
  const tone = hasFailed(call) ? "bad" : undefined;
  const text = tone ? withoutErrorTags(call.content.text) : call.content.text;
  const body = withoutWallTime(text);
  const inside = /^\s*[[{]/.test(body) && body.length <= MAX_JSON_LENGTH ? parseJson(body) : undefined;
  if (isObject(inside) || Array.isArray(inside)) return <JsonTree value={inside} label={label} />;
  const fields = numbered === undefined ? fieldsOf(text) : null;
  if (fields) return <Fields fields={fields} />;
  return (
    <>
      {text && (
        <LongText
          text={text}
          label={label}
          colours={colours || tone === "bad"}
          numbered={numbered}
          tone={tone}
        />
      )}
      {value !== undefined && <JsonTree value={value} label={label} />}
    </>
  );
}

interface TextOutputProps {
  readonly call: Call;
  readonly title: string;
  /** What is shown of the text. */
  readonly shorten?: (text: string) => string;
}

/** An output in a section. Prose is rendered as Markdown. */
export function TextOutput({ call, title, shorten = (text) => text }: TextOutputProps) {
  const { value } = call.content;
  const text = shorten(call.content.text);
  const isProse =
    text !== "" && text.length <= MAX_MARKDOWN_LENGTH && value === undefined && !hasFailed(call);
  return (
    <Section title={hasFailed(call) ? "Error" : title} aside={<CopyOutput call={call} />}>
      {isProse ? (
        <>
          <ShowAll label={title} what={plural(text.split("\n").length, "line")}>
            <Markdown text={text} live={false} />
          </ShowAll>
          <OtherOutput call={call} />
        </>
      ) : (
        <Output call={call} />
      )}
    </Section>
  );
}

/** The output besides text and value: large values, files and unknown items. */
export function OtherOutput({ call, label = "Output", colours, numbered }: OutputProps) {
  const { large, files, others } = call.content;
  return (
    <>
      {large.map((one) => (
        <LargeOutput
          key={one.url}
          large={one}
          call={call}
          label={label}
          colours={colours}
          numbered={numbered}
        />
      ))}
      {files.map((file, at) => (
        <Media key={at} file={file} />
      ))}
      {others
        .filter(({ index }) => !call.view.shownItems?.includes(index))
        .map(({ index, item }) => (
          <JsonTree key={index} value={item} label={label} />
        ))}
    </>
  );
}

function LargeOutput({
  large,
  call,
  label = "Output",
  colours,
  numbered,
}: OutputProps & { large: LargeValue }) {
  const { firstPieces, error, retry } = useContext(OutputContext);
  const first = firstPieces.get(large.url);
  const tone = hasFailed(call) ? "bad" : undefined;
  if (error) return <Failure error={error} retry={retry} />;
  if (!first) return <Loading what="Loading the output" />;
  return (
    <BlobText
      url={large.url}
      first={first}
      label={label}
      colours={colours || tone === "bad"}
      numbered={numbered}
      tone={tone}
    />
  );
}

/** Copies the complete output, including parts that are not displayed. */
export function CopyOutput({ call, text }: { call: Call; text?: string }) {
  const { loadBlob } = useRenderContext();
  const all = async () => {
    const large = call.content.large.map(async ({ url }) =>
      new TextDecoder().decode((await loadBlob(url)).data),
    );
    const { value } = call.content;
    const shown = text ?? call.content.text;
    return [shown, value === undefined ? "" : stringify(value, 2), ...(await Promise.all(large))]
      .filter(Boolean)
      .join("\n");
  };
  return <CopyButton text={all} label="Copy output" />;
}

export const hasOutput = ({ content }: Call): boolean =>
  content.text !== "" ||
  content.value !== undefined ||
  content.large.length + content.files.length + content.others.length > 0;
