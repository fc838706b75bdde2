#!/bin/sh
# For GUIs that start only scripts: register this file. Write the path that `usi_engine --where` prints below.
exec "${USI_ENGINE:-usi_engine}" "$@"
