"""What the APIs of models insist on, as strict as they are: `problems(body)` tells what one would refuse."""
