"""Import the threads and messages of other systems from their databases, or from dumps of their tables."""
