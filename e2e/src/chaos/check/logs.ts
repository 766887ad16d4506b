import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the processes wrote, by the name of the file. */
export async function readLogs(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
  const read = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(read));
}

/** Invariant 17: no secret stands in what the processes wrote. */
export const secretsIn = (logs: ReadonlyMap<string, string>, secrets: readonly string[]): string[] =>
  [...logs].flatMap(([name, text]) =>
    secrets.flatMap((secret, index) => (text.includes(secret) ? [`secret ${index} stands in ${name}`] : [])),
  );

/** Characters of a line that are told. */
const MAX_LINE = 700;

/** The lines of errors about a request, each with the file that it stands in. */
export const linesAbout = (logs: ReadonlyMap<string, string>, requestId: string): string[] =>
  [...logs].flatMap(([name, text]) =>
    text
      .split('\n')
      .filter((line) => requestId !== '' && line.includes('"level":"error"') && line.includes(requestId))
      .map((line) => `${name}: ${line.slice(0, MAX_LINE)}`),
  );
