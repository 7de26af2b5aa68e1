import { memo } from "react";
import type { Part } from "../partita.gen";
import { ToolCard } from "../tools/ToolCard";
import type { PartPlace } from "../viewing/viewing";
import { samePlace } from "./anchors";
import { FileView } from "./FileView";
import { PartFrame } from "./PartFrame";
import { ReasoningView } from "./ReasoningView";
import { SourceView } from "./SourceView";
import { SteeringView } from "./SteeringView";
import { StepMark } from "./StepMark";
import { TextView } from "./TextView";
import { ToolResultView } from "./ToolResultView";
import { CustomView, DataPartView, ForeignView, UnknownView } from "./Trees";

export interface PartProps<P = Part> {
  readonly part: P;
  readonly place: PartPlace;
  /** Who speaks; the agent, unless said. */
  readonly speaker?: string;
  /** The last part of its message: the one that grows while the message is at work. */
  readonly last?: boolean;
  /** Which step of its message begins here. */
  readonly step?: number;
}

/** What draws which kind of part; a kind that this release does not know is drawn as a tree. */
function Drawing({ part, ...rest }: PartProps) {
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

/** A part, drawn for what it is, where its permalink finds it. It is drawn again only when it changed. */
export const PartView = memo(
  function PartView(props: PartProps) {
    return (
      <PartFrame part={props.part} place={props.place}>
        <Drawing {...props} />
      </PartFrame>
    );
  },
  (one, other) =>
    one.part === other.part &&
    one.speaker === other.speaker &&
    one.last === other.last &&
    one.step === other.step &&
    samePlace(one.place, other.place),
);
