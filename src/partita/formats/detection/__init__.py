"""What gives formats away: signs with their reasons, one file a family."""
