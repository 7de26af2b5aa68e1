"""The OpenAI Agents SDK: the items of its sessions and runs ↔ messages."""
