"""The OpenAI Agents SDK: what its sessions store and its runs make ↔ messages."""
