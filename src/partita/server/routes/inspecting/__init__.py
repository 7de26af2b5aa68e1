"""What somebody pastes: told apart, read, and written in another format."""
