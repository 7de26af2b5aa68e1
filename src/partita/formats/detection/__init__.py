"""What shows which format a payload or a log is in: signs with their reasons, by families of formats."""
