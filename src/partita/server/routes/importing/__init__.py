"""What is uploaded to be brought in: received, recognised, read, written."""
