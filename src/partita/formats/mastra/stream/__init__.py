"""Streams of Mastra: what agents, workflows and networks say while they are at work."""
