"""The pages of a site: each a function from what it shows to a whole HTML page.

Pure; the live server renders the same pages. Scripts add sorting, languages, the theme and the
viewer of matches; everything else works without them.

Invariant: a page names no address outside its site, and has no inline script or style.
"""
