"""Messages as OpenTelemetry's conventions for generative AI record them."""
