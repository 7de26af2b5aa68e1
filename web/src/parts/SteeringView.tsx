import { MessageSquareReply } from "lucide-react";
import type { SteeringMessagePart } from "../partita.gen";
import { type PartProps, PartView } from "./PartView";
import styles from "./SteeringView.module.css";

/** A message that the user sent while the agent was running. */
export function SteeringView({ part, place }: PartProps<SteeringMessagePart>) {
  return (
    <div className={styles.steering}>
      <div className={styles.head}>
        <MessageSquareReply size={14} aria-hidden />
        Sent while running
      </div>
      {part.parts.map((one, index) => (
        <PartView
          key={index}
          part={one}
          messageRole="user"
          place={{ ...place, path: `${place.path}.parts.${index}` }}
        />
      ))}
    </div>
  );
}
