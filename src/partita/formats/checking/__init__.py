"""A look over what was converted: whatever is in neither the result nor the losses is told as lost."""
