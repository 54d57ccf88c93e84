"""Vectors of texts: who makes them, how they are asked, and what is believed of their answers.

Making vectors is somebody else's work: an HTTP provider that the operator named, or the opt-in
local model. Nothing here is asked unless one is configured.
"""
