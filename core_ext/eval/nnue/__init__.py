"""The NNUE evaluation: a first layer summed by differences, then small dense layers in integers."""
