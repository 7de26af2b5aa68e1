"""What statements are made of: transactions, prepared statements, cursors, texts."""
