import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'services/runtime/src');

/** The rooms in the order of the table in ARCHITECTURE.md. */
const described = (): string[] => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = /## The rooms of the runtime\n([\s\S]*?)\n## /.exec(text) ?? [];
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, room = '']) => room);
};

const rooms = (): string[] =>
  readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** The other rooms that a room's files import, tests left out. */
function importedBy(room: string): Set<string> {
  const files = readdirSync(join(source, room), { recursive: true, encoding: 'utf8' });
  const imported = files
    .filter((file) => file.endsWith('.ts') && !file.includes('.test'))
    .flatMap((file) => {
      const path = join(source, room, file);
      const imports = readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g);
      return [...imports].map(([, target = '']) => relative(source, resolve(dirname(path), target)));
    })
    .filter((path) => path.includes('/'))
    .map((path) => path.split('/')[0] ?? '');
  return new Set(imported.filter((other) => other !== room));
}

describe('the rooms of the runtime', () => {
  const order = described();

  it('are all described in ARCHITECTURE.md', () => {
    expect([...order].sort()).toEqual(rooms().sort());
  });

  it('import only rooms above them in its table', () => {
    const upwards = order.flatMap((room, at) =>
      [...importedBy(room)].filter((other) => order.indexOf(other) > at).map((other) => `${room} → ${other}`),
    );
    expect(upwards).toEqual([]);
  });
});
