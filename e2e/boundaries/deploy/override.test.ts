import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { textOf, variablesOf, type Yaml } from './read-deploy.js';

/** What operations.md has an operator write, to give files and keys to the containers. */
const page = textOf('docs/operations.md');
const [, text = ''] = /```yaml\n# docker-compose\.override\.yml\n([\s\S]*?)```/.exec(page) ?? [];
const override: Yaml = parse(text);

describe.each(['runtime', 'chain-pusher'])('the override of %s', (name) => {
  const { environment, volumes } = override.services[name];
  const FILES = ['AI_MODELS_FILE', 'PAYMENTS_FILE', 'CHAINS_FILE'];

  it('names every file that the service reads, in a folder that it cannot write', () => {
    const read = FILES.filter((file) => variablesOf(name).includes(file));
    expect(Object.keys(environment).filter((variable) => FILES.includes(variable))).toEqual(read);
    for (const file of read) expect(environment[file]).toMatch(/^\/config\/[\w-]+\.json$/);
    expect(volumes).toEqual(['./config:/config:ro']);
  });

  it('requires the keys beside them, of .env', () => {
    const keys = Object.keys(environment).filter((variable) => !FILES.includes(variable));
    expect(keys).toHaveLength(1);
    for (const key of keys) expect(environment[key]).toBe(`\${${key}:?put it into .env}`);
  });
});

it('changes no other service', () => {
  expect(Object.keys(override.services)).toEqual(['runtime', 'chain-pusher']);
});
