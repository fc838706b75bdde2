#!/bin/sh
# ShogiArena copies this file to each worker and runs it there, so the engine itself has to be installed on the worker:
# here in a virtual environment in the home folder. `usi_engine --where` prints the path.
exec "$HOME/komadori/.venv/bin/usi_engine"
