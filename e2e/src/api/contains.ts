/** Whether JSON is in other JSON as it is, which may have more members in its objects. */
export function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part))
    return false;
  if (Array.isArray(part) && part.length !== (whole as unknown[]).length) return false;
  return Object.entries(part).every(([name, value]) =>
    contains((whole as Record<string, unknown>)[name], value),
  );
}
