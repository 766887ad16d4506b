import { createTestDatabase } from '@orrery/testing';
import { startAllInOne } from '@orrery/testing/system';
import { expect, it } from 'vitest';
import { askFor } from '../src/access/ask-for.js';
import { makeCallers } from '../src/access/callers.js';
import { type CallerName, expectedAnswer, type Target } from '../src/access/expected-answer.js';
import { makePlace } from '../src/access/place.js';
import { apiClient } from '../src/api-client.js';
import { routedOperations } from '../src/contract/routed-operations.js';
import { startValidatingProxy } from '../src/external/start-validating-proxy.js';
import { racingWorld } from '../src/racing-world.js';

/** Without a token Prism answers by itself. */
const callerNames: readonly CallerName[] = ['owner', 'other', 'unscoped'];
const targets: readonly Target[] = [
  { kind: 'owned', visible: { world: true, deployment: true } },
  { kind: 'nowhere' },
  { kind: 'leafless' },
];
/** A stream has no end that a validator could wait for. */
const operations = routedOperations.filter(({ http }) => http.stream !== true);

/** Who did not write the document finds no answer that breaks it. */
it('a proxy that knows only openapi.json finds no violation', async () => {
  await using database = await createTestDatabase();
  await using system = await startAllInOne(database.url, { RATE_LIMITS: 'false' });
  const { url, proxy } = await startValidatingProxy(system.url);
  await using _proxy = proxy;
  const api = apiClient(url, system.key);
  const { deployment } = await racingWorld(api);
  const race = { event: 'race_result', input: { raceId: 'R', winner: 'HORSE_1' } };
  for (let run = 0; run < 6; run += 1)
    expect((await api.post(`${deployment}/execute`, race)).status).toBe(run < 5 ? 200 : 400);
  for (const path of ['/history', '/history?include=all', '/history/verify', '/entity-instances'])
    expect((await api.get(`${deployment}${path}`)).status).toBe(200);

  const callers = await makeCallers({ ...system, url });
  const place = await makePlace(api, { world: true, deployment: true });
  for (const operation of operations) {
    for (const caller of callerNames) {
      for (const target of targets) {
        const expected = expectedAnswer(operation, caller, target);
        // What is done is done once, on a place that the next operations do not need.
        if (expected === 'success' && operation.http.method !== 'GET' && target.kind !== 'owned') continue;
        const isDone = expected === 'success' && operation.http.method !== 'GET';
        if (isDone && caller !== 'owner') continue;
        const here = isDone ? await makePlace(api, { world: false, deployment: false }) : place;
        const answer = await askFor(callers(caller, operation.access.scope), operation, here, target.kind);
        const status = expected === 'success' ? operation.http.status : expected[0];
        expect(answer.status, `${operation.name}, ${caller}: ${JSON.stringify(answer.body)}`).toBe(status);
      }
    }
  }
  expect(proxy.output()).not.toMatch(/violation/i);
});
