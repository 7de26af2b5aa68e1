import { MessageSquareReply } from "lucide-react";
import type { SteeringMessagePart } from "../partita.gen";
import { type PartProps, PartView } from "./PartView";
import styles from "./SteeringView.module.css";

/** What the user said while the agent was at work. */
export function SteeringView({ part, place }: PartProps<SteeringMessagePart>) {
  return (
    <div className={styles.steering}>
      <div className={styles.head}>
        <MessageSquareReply size={14} aria-hidden />
        Said meanwhile
      </div>
      {part.parts.map((one, index) => (
        <PartView
          key={index}
          part={one}
          speaker="user"
          place={{ ...place, path: `${place.path}.parts.${index}` }}
        />
      ))}
    </div>
  );
}
