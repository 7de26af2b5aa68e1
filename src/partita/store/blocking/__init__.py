"""The store without `await`, for scripts and notebooks."""
