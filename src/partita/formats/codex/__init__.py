"""The logs and streams of Codex: rollout files, `codex exec --json`, the app server."""
