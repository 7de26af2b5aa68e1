"""Networks: a routing agent chooses what runs next, until the task is done."""
