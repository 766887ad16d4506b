/** A word as a shell reads it. `$WORLD` and `$DEPLOYMENT` stay variables; no example holds another `$` outside quotes. */
export const word = (text: string): string =>
  /^[\w@%+=:,./$-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Words as a command: in one line where it is short, else with a line for each option. */
export function commandLine(words: readonly string[], width = 78): string {
  const line = words.map(word).join(' ');
  if (line.length <= width) return line;
  const parts: string[][] = [[]];
  for (const one of words) {
    if (one.startsWith('-')) parts.push([]);
    parts.at(-1)?.push(word(one));
  }
  return parts.map((part) => part.join(' ')).join(' \\\n  ');
}
