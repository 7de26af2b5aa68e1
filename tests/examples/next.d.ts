/// <reference types="node" />

declare module "next" {
  export interface NextConfig {
    rewrites?: () => Promise<{ source: string; destination: string }[]>;
  }
  export interface Metadata {
    title?: string;
  }
}

declare module "next/link" {
  import type { ComponentProps, JSX } from "react";
  export default function Link(props: ComponentProps<"a"> & { href: string; prefetch?: boolean }): JSX.Element;
}

declare module "next/navigation" {
  export function redirect(address: string): never;
}

declare module "next/server" {
  export function connection(): Promise<void>;
}

declare module "*.css";
