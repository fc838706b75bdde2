"""One search: time management, threads, iterative deepening, reports."""
