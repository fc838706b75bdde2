#!/bin/sh
# A match in ShogiArena (PyPI: shogiarena) of an engine against itself, or against a second one, as one quick SPRT run:
#   sh bench/strength/arena.sh ENGINE GAMES FOLDER [SECOND_ENGINE]
# SHOGIARENA names the program where it is not on the PATH. Results are written to FOLDER and summed up at the end.
set -eu
engine=$(command -v "$1")
games=$2
folder=$3
second=$(command -v "${4:-$1}")
arena=${SHOGIARENA:-shogiarena}
mkdir -p "$folder"
"$arena" --output-dir "$folder" run sprt --games "$games" \
    --engine name=A path="$engine" --engine name=B path="$second" \
    --rules time_control.time_ms=2000 time_control.increment_ms=50 --dashboard enabled=false
exec "$arena" results summary "$(ls -dt "$folder"/tournament/runs/*/* | head -1)"
