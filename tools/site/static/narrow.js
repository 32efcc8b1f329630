// On a narrow window a notebook that runs in the browser fills it, without JupyterLab's sidebar and its file browser.
const links = document.querySelectorAll('a[href*="lite/lab/index.html"]');
if (matchMedia("(max-width: 50rem)").matches)
  for (const link of links) link.setAttribute("href", link.getAttribute("href").replace("lite/lab/", "lite/notebooks/"));
