import type { NextConfig } from "next";

const server = process.env.SERVER ?? "http://127.0.0.1:8000";

const config: NextConfig = {
  rewrites: async () => [{ source: "/api/:path*", destination: `${server}/api/:path*` }],
};

export default config;
