"""An agent that says what is written down: no key, no network, the same every time."""
