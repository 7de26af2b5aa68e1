import { memo } from "react";
import type { PartPlace } from "../context/renderContext";
import { noticeOf } from "../context/toolViews";
import type { Part } from "../partita.gen";
import { ToolCard } from "../tools/ToolCard";
import { samePlace } from "./anchors";
import { CustomView, DataPartView, ForeignView, UnknownView } from "./DataViews";
import { FileView } from "./FileView";
import { NoticeView } from "./NoticeView";
import { PartFrame } from "./PartFrame";
import { ReasoningView } from "./ReasoningView";
import { SourceView } from "./SourceView";
import { SteeringView } from "./SteeringView";
import { StepMark } from "./StepMark";
import { TextView } from "./TextView";
import { ToolResultView } from "./ToolResultView";

export interface PartProps<P = Part> {
  readonly part: P;
  readonly place: PartPlace;
  /** The role of the message; by default the assistant. */
  readonly messageRole?: string;
  /** The last part of its message: it may still be streaming. */
  readonly last?: boolean;
  /** The number of the step that starts here. */
  readonly step?: number;
}

/** Selects the component for a part. Parts of unknown types are displayed as a tree. */
function PartContent({ part, ...rest }: PartProps) {
  const notice = noticeOf(part);
  if (notice) return <NoticeView notice={notice} />;
  switch (part.type) {
    case "text":
      return <TextView part={part} {...rest} />;
    case "reasoning":
      return <ReasoningView part={part} {...rest} />;
    case "tool-call":
      return <ToolCard call={part} place={rest.place} />;
    case "tool-result":
      return <ToolResultView part={part} {...rest} />;
    case "step-start":
      return <StepMark part={part} {...rest} />;
    case "image":
    case "file":
    case "reasoning-file":
      return <FileView part={part} {...rest} />;
    case "source-url":
    case "source-document":
      return <SourceView part={part} {...rest} />;
    case "data":
      return <DataPartView part={part} {...rest} />;
    case "custom":
      return <CustomView part={part} {...rest} />;
    case "steering-message":
      return <SteeringView part={part} {...rest} />;
    case "foreign":
      return <ForeignView part={part} {...rest} />;
    default:
      return <UnknownView part={part} {...rest} />;
  }
}

/** A part with its permalink. It renders again only if it changes. */
export const PartView = memo(
  function PartView(props: PartProps) {
    return (
      <PartFrame part={props.part} place={props.place}>
        <PartContent {...props} />
      </PartFrame>
    );
  },
  (one, other) =>
    one.part === other.part &&
    one.messageRole === other.messageRole &&
    one.last === other.last &&
    one.step === other.step &&
    samePlace(one.place, other.place),
);
