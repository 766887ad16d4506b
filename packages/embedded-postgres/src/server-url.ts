/** `localhost` only fills the place that a URL needs: the `host` parameter overrides it. */
export function urlOf(socketDirectory: string, database: string): string {
  const host = encodeURIComponent(socketDirectory);
  return `postgres://orrery@localhost:5432/${encodeURIComponent(database)}?host=${host}`;
}
