@echo off
rem For GUIs that start only batch files: register this file. If usi_engine.exe is not on the PATH,
rem write the path that "usi_engine --where" prints between the quotes below.
set "USI_ENGINE=usi_engine.exe"
"%USI_ENGINE%" %*
