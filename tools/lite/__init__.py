"""JupyterLite: the whole lab in a web page, its notebooks and a kernel with simulator and clang, without a server."""
