/** "line 2, column 7" of an offset in a text; both count from 1. */
export function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}
