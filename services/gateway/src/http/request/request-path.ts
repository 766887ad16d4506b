/** The path of a request target, without its query: queries are not repeated in answers and logs. */
export function pathOf(url: string): string {
  const end = url.search(/[?;#]/);
  return end === -1 ? url : url.slice(0, end);
}
