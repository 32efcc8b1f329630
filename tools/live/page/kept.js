// What the reader has written: kept in this browser by kernel, and packed into an address.
export const KEY = "gemm_lab/live/";

// {source, launch} of a kernel that was edited here, or null.
export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(KEY + name));
  } catch {
    return null; // the browser keeps nothing, or something else
  }
}
export function keep(name, edit) {
  try {
    if (edit) localStorage.setItem(KEY + name, JSON.stringify(edit));
    else localStorage.removeItem(KEY + name);
  } catch {
    // Without storage the text lasts as long as the page.
  }
}

const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
export async function packed(value) {
  const text = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const binary = Array.from(await bytesOf(text), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
export async function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(new TextDecoder().decode(await bytesOf(stream)));
}
