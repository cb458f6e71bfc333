"""Tuner: from what settings of a bot have shown against each other to the settings to try next.

    surface    differences between settings  ->  strokes as a quadratic function of the parameters
    search     seed and stages so far        ->  the next settings; the best, and how flat it is

Pure: the same seed and the same differences give the same settings. See docs/design/tune.md.
"""
