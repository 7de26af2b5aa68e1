"""The agents whose logs can be read. `source` defines the declaration of an agent."""
