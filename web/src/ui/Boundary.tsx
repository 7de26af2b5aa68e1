import { Component, type ReactNode } from "react";

interface Props {
  readonly children: ReactNode;
  /** The data of the children. After an error they render again when it changes. */
  readonly value: unknown;
  /** Rendered in place of children that threw. */
  readonly fallback: (error: unknown) => ReactNode;
}

interface State {
  readonly value: unknown;
  readonly failed: { readonly error: unknown } | null;
}

/** Contains an error of its children. Without it React unmounts the whole page. */
export class Boundary extends Component<Props, State> {
  override state: State = { value: this.props.value, failed: null };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failed: { error } };
  }

  static getDerivedStateFromProps({ value }: Props, state: State): State | null {
    return value === state.value ? null : { value, failed: null };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    return failed ? this.props.fallback(failed.error) : this.props.children;
  }
}
