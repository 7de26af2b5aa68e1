"""Wire formats: each loads into canonical messages and dumps from them, and reports what it lost."""
