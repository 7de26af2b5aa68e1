"""How fast is each format read and written, with and without losses, compared with other libraries?

`python -m benchmarks formats` measures one conversation in every format. `inputs` builds it with the packages
of the formats, `worker` measures in a process of its own, `rivals` has the converters of LangChain and
Pydantic AI, and `compare` alternates between them and prints ratios. To compare two checkouts use
`--tree OTHER/src`; to compare two runs use `--json FILE` and then `--baseline FILE`. Garbage collection is
off while time is measured.
"""

from .compare import main as main
