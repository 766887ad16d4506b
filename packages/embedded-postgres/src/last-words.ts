import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

const kept = 5;

/** Reads a child's standard error, calls back for each line, and keeps the last few for an error message. */
export function lastWords(child: ChildProcess, onLine?: (line: string) => void): () => string {
  const lines: string[] = [];
  if (child.stderr === null) return () => '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line.trim());
    if (lines.length > kept) lines.shift();
    onLine?.(line);
  });
  return () => lines.join(' ');
}
