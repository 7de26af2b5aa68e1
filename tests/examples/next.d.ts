/// <reference types="node" />

declare module "next" {
  export interface Metadata {
    title?: string;
  }
}

declare module "next/link" {
  import type { ComponentProps, JSX } from "react";
  export default function Link(props: ComponentProps<"a"> & { href: string; prefetch?: boolean }): JSX.Element;
}

declare module "next/server" {
  export interface NextRequest extends Request {
    nextUrl: { pathname: string; search: string };
  }
  export class NextResponse extends Response {
    static rewrite(destination: URL): NextResponse;
  }
}

declare module "next/navigation" {
  export function redirect(address: string): never;
}

declare module "next/headers" {
  interface Kept {
    httpOnly?: boolean;
    sameSite?: "lax" | "strict";
    maxAge?: number;
  }
  export function cookies(): Promise<{
    has(name: string): boolean;
    set(name: string, value: string, kept?: Kept): void;
  }>;
  export function headers(): Promise<Headers>;
}

declare module "*.css";
