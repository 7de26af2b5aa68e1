"""What answers of model providers have in common, whoever gave them."""
