"""Wire formats: each loads into canonical messages and dumps from them, and tells what it lost."""
