"""The live page: a kernel is edited, compiled and simulated in a web page, without a server."""
