"""The Model Context Protocol: content blocks, results of tools, messages of prompts and sampling."""
