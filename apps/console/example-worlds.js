import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const MODULE = 'virtual:example-worlds';
const LOADED = `\0${MODULE}`;

/**
 * The worlds of a folder of examples as a module, so that the console has no second copy of them. Each is a folder with
 * world.yaml, schemas, events and deployment.json.
 */
export function exampleWorlds(folder) {
  return {
    name: 'example-worlds',
    resolveId: (id) => (id === MODULE ? LOADED : undefined),
    load(id) {
      if (id !== LOADED) return undefined;
      const names = readdirSync(folder, { withFileTypes: true })
        .filter(
          (entry) => entry.isDirectory() && readdirSync(join(folder, entry.name)).includes('world.yaml'),
        )
        .map(({ name }) => name);
      return `export default ${JSON.stringify(names.map((name) => readWorld(join(folder, name))))}`;
    },
  };
}

function readWorld(folder) {
  const yaml = (...path) => parse(readFileSync(join(folder, ...path), 'utf8'));
  const allIn = (below) => readdirSync(join(folder, below)).map((file) => yaml(below, file));
  return {
    world: yaml('world.yaml'),
    schemas: allIn('schemas'),
    // The files have an event and its version in one; the API takes the version apart.
    events: allIn('events').map(({ name, description, ...firstVersion }) => ({
      name,
      description,
      firstVersion,
    })),
    deployment: JSON.parse(readFileSync(join(folder, 'deployment.json'), 'utf8')),
  };
}
