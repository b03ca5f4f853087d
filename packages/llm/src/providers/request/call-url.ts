/**
 * The URL of a call below a base URL, which may have a query (Azure's api-version): the path of the call comes before
 * it. A base URL that ends with the path already, and one that is none, stay as they are.
 * @param path with a slash, e.g. `/chat/completions`
 */
export function callUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  const base = withoutSlashes(url.pathname);
  url.pathname = base.endsWith(path) ? base : `${base}${path}`;
  return url.href;
}

/** The path without slashes at its end. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}
