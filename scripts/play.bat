@echo off
rem Double-click: a game in the browser. Close this window to end the program.
"%~dp0usi_engine.exe" play --browser %*
if errorlevel 1 pause
