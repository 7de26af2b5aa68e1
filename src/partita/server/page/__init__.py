"""The web UI: the build of `web/`, served with a policy that loads nothing from elsewhere."""
