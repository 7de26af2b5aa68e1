import { useContext } from "react";
import { CopyButton } from "../ui/CopyButton";
import { Failure, Loading } from "../ui/States";
import { useViewing } from "../viewing/viewing";
import { type Call, hasFailed, type Large } from "./call";
import { JsonTree } from "./JsonTree";
import { isObject, parsed, written } from "./json";
import { BlobText, LongText } from "./LongText";
import { Media } from "./Media";
import { Beginnings } from "./readingContext";

/** Up to here a text is looked at whether it is JSON: tools behind MCP write it so. */
const LONGEST_JSON = 200_000;

interface Look {
  readonly call: Call;
  readonly label?: string;
  readonly colours?: boolean;
  readonly numbered?: number;
}

/** What a call gave, when there is no better way to draw it. */
export function Output({ call, label = "Output", colours = false, numbered }: Look) {
  return (
    <>
      <Words call={call} label={label} colours={colours} numbered={numbered} />
      <Rest call={call} label={label} colours={colours} numbered={numbered} />
    </>
  );
}

function Words({ call, label = "Output", colours, numbered }: Look) {
  const { text, value } = call.given;
  const tone = hasFailed(call) ? "bad" : undefined;
  const inside = /^\s*[[{]/.test(text) && text.length <= LONGEST_JSON ? parsed(text) : undefined;
  if (isObject(inside) || Array.isArray(inside)) return <JsonTree value={inside} label={label} />;
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

/** What comes beside the words: what is kept apart, files, what nobody knows. */
export function Rest({ call, label = "Output", colours, numbered }: Look) {
  const { large, files, others } = call.given;
  return (
    <>
      {large.map((one) => (
        <Apart key={one.url} large={one} call={call} label={label} colours={colours} numbered={numbered} />
      ))}
      {files.map((file, at) => (
        <Media key={at} file={file} />
      ))}
      {others
        .filter(({ at }) => !call.view.shownItems?.includes(at))
        .map(({ at, item }) => (
          <JsonTree key={at} value={item} label={label} />
        ))}
    </>
  );
}

function Apart({ large, call, label = "Output", colours, numbered }: Look & { large: Large }) {
  const { firsts, error, retry } = useContext(Beginnings);
  const first = firsts.get(large.url);
  const tone = hasFailed(call) ? "bad" : undefined;
  if (error) return <Failure error={error} retry={retry} />;
  if (!first) return <Loading what="Fetching the output" />;
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

/** Copies all of an output, also what is not shown. */
export function CopyOutput({ call, text }: { call: Call; text?: string }) {
  const { loadBlob } = useViewing();
  const all = async () => {
    const apart = call.given.large.map(async ({ url }) =>
      new TextDecoder().decode((await loadBlob(url)).data),
    );
    const { value } = call.given;
    const words = text ?? call.given.text;
    return [words, value === undefined ? "" : written(value, 2), ...(await Promise.all(apart))]
      .filter(Boolean)
      .join("\n");
  };
  return <CopyButton text={all} label="Copy output" />;
}

/** Whether there is anything to draw. */
export const hasOutput = ({ given }: Call): boolean =>
  given.text !== "" ||
  given.value !== undefined ||
  given.large.length + given.files.length + given.others.length > 0;
