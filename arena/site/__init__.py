"""A site of events: pages, pictures and data for a browser, from tables and records.

Everything below `arena.site` makes bytes from what it is given; only `publishing` reads results
folders and writes a site. Invariant: a page needs nothing but files beside it, so that it works
from a folder, and from any static host under any path.
"""
