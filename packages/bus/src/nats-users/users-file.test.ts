import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRAFFIC } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { DEFAULT_PREFIX } from '../nats/subjects.js';
import { usersFile } from './users-file.js';

it('equals the committed copy, which `npm run nats-users` prints', () => {
  const committed = join(import.meta.dirname, '../../../../deploy/nats/users.conf');
  expect(readFileSync(committed, 'utf8')).toBe(usersFile(DEFAULT_PREFIX, []));
});

it('has a user for each service and each subscriber, under the prefix alone', () => {
  const file = usersFile('staging', ['scores']);
  for (const user of [...Object.keys(TRAFFIC), 'scores']) expect(file).toContain(`user: "${user}"`);
  expect(file).not.toMatch(/"orrery\.|ORRERY/);
  expect(file).toContain(
    '$JS.API.CONSUMER.CREATE.STAGING_FACTS.scores-runtime_journal-entry.staging.facts.runtime.journal-entry',
  );
});

it('lets a service call nothing beside what it calls', () => {
  const scheduler = /user: "scheduler"[^}]*/.exec(usersFile('staging', []))?.[0];
  expect(scheduler).toContain('"staging.runtime.deployments.authorize.*"');
  expect(scheduler).not.toContain('"staging.runtime.deployments.*"');
});
