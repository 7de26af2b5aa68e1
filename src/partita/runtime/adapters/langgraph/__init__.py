"""Compiled graphs of LangGraph as agents."""
