"""The NNUE evaluation: a first layer updated incrementally, then small dense layers in integers."""
