"""What every floor stands on: memory, the processor, time, stopping; nothing of shogi."""
