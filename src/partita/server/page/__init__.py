"""The web page: what `web/` was built into, served with a policy that lets nothing in from elsewhere."""
