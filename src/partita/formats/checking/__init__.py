"""The search for values of a payload in its messages, for readers that do not report all losses."""
