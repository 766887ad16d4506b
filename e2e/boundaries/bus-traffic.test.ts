import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRAFFIC, type Traffic } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { ROOT } from './variables-read.js';

/** Names in the sources of a service, of what it does on the bus. */
const sourcesOf = (folder: string): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'))
    .join('\n');

const matches = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();

describe.each(Object.entries<Traffic>(TRAFFIC))(
  'the traffic of %s, from which its permissions follow',
  (service, traffic) => {
    const text = sourcesOf(`services/${service}/src`);

    it('has every call that its sources name', () => {
      const named = matches(text, /(?<!typeof )\b(?:\w+Contract\.)?rpcs\['([\w.]+)'\]/g).filter(
        // What the gateway answers by itself, and types.
        (name) =>
          !name.startsWith('public.') && !(name in (traffic.serves?.rpcs ?? {}) && service !== 'runtime'),
      );
      const calls = traffic.calls.map(({ name }) => name);
      expect(named.filter((name) => !calls.includes(name))).toEqual([]);
    });

    it('has every consumer that its sources name', () => {
      const named = matches(text, /(?:consumer: |CONSUMER = )'([\w-]+)'/g);
      expect(traffic.consumes.map(({ consumer }) => consumer).sort()).toEqual(named);
    });

    it('has every broadcast of other services that its sources listen to', () => {
      const heard = matches(text, /\.listen\(\s*(\w+),/g).filter((name) => name !== 'address');
      const listens = traffic.listens.map(({ name }) =>
        name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
      );
      const own = heard.filter((name) => !listens.includes(name));
      // Its own broadcasts may always be heard.
      const broadcasts = matches(text, /\.broadcast\((\w+)/g);
      expect(own.filter((name) => !broadcasts.includes(name))).toEqual([]);
      expect(listens.filter((name) => !heard.includes(name))).toEqual([]);
    });
  },
);
