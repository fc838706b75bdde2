"""The command `match`: games between USI engines, their statistics, and tuning of options by games."""
