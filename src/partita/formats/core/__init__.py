"""What formats are built on: wire types, part codecs, residue, turns, rules, and the loss report."""
