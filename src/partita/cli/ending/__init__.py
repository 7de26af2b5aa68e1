"""How commands end: well, badly, or by Ctrl-C."""
