"""What messages contain, ready to be drawn by the web UI and the terminal."""
