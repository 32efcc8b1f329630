"""`make site`: the book as a static web site, from the stored notebooks and the pages of `docs`.

`links` says where a link leads, `pages` prepares the sources, `widgets` gives live widgets their state, `cards` adapts
the colours of cards to the page, `conf` is Sphinx's configuration, and `built` reads the finished pages once more. No
notebook is executed.
"""
