"""The MCP server: tools, resources and prompts with which agents read past sessions."""
