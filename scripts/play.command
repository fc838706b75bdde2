#!/bin/sh
# Double-click (on Linux choose "Run in terminal"): a game in the browser. Close the window to end the program.
exec "$(dirname "$0")/usi_engine" play --browser "$@"
