"""Programs around the engine: measuring, checking, analysing."""
