"""OpenCode: its sessions, as it exports them and as it stores them."""
