import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askFor, type Callers, makeCallers } from '../src/access/callers.js';
import { type CallerName, expectedAnswer, parametersOf, type Target } from '../src/access/expected-answer.js';
import { requests } from '../src/access/requests.js';
import { openDump, type StoredDump } from '../src/access/stored-dump.js';
import { makeWorldPaths, SECRET, type Visibility, type WorldPaths } from '../src/access/world-paths.js';
import { type ApiAnswer, type ApiClient, apiClient } from '../src/api/api-client.js';
import { type RoutedOperation, routedOperations } from '../src/api/routed-operations.js';

const DAY_MS = String(86_400_000);
/** The matrix asks more than a key may, and no sweep changes a row meanwhile. */
export const unhurried = { RATE_LIMITS: 'false', CLAIM_GRACE_MS: DAY_MS, SCHEDULE_DRAFTS_MS: DAY_MS };
const callerNames: readonly CallerName[] = ['owner', 'other', 'revoked', 'unscoped', 'nobody'];
const visibilities: readonly Visibility[] = [
  { world: false, deployment: false },
  { world: false, deployment: true },
  { world: true, deployment: false },
  { world: true, deployment: true },
];
const targets: readonly Target[] = [
  ...visibilities.map((visible) => ({ kind: 'owned' as const, visible })),
  { kind: 'nowhere' },
  { kind: 'leafless' },
];

export const writes = routedOperations
  .filter(({ http, access }) => http.method !== 'GET' && access.relation !== 'public')
  .map((operation) => [operation.name, operation] as const);
export type Start = (cleanUp: (() => Promise<void>)[]) => Promise<System>;

/** Every operation × who asks × what it is asked of, from the contract's data alone. */
export function accessMatrix(
  start: Start,
  more?: (system: () => { api: ApiClient; callers: Callers }) => void,
): void {
  const cleanUp: (() => Promise<void>)[] = [];
  const worlds = new Map<Visibility, WorldPaths>();
  let system: System;
  let api: ApiClient;
  let callers: Callers;
  let dump: StoredDump;
  beforeAll(async () => {
    system = await start(cleanUp);
    api = apiClient(system.url, system.key);
    callers = await makeCallers(system);
    for (const visible of visibilities) worlds.set(visible, await makeWorldPaths(api, visible));
    dump = await openDump(system.databaseUrl);
  });
  afterAll(async () => {
    await dump?.[Symbol.asyncDispose]();
    await system?.[Symbol.asyncDispose]();
    for (const release of cleanUp.reverse()) await release();
  });

  const ask = (operation: RoutedOperation, caller: CallerName, target: Target): Promise<ApiAnswer> => {
    const world = worlds.get(target.kind === 'owned' ? target.visible : (visibilities[3] as Visibility));
    if (world === undefined) throw new Error('no such world was made');
    return askFor(callers(caller, operation.access.scope), operation, world, target.kind);
  };

  /** One after the other: an account verifies one history at a time. */
  async function row(operation: RoutedOperation, caller: CallerName) {
    const found = [];
    for (const target of targets) {
      const expected = expectedAnswer(operation, caller, target);
      if (operation.http.method !== 'GET' && expected === 'success') continue;
      const { status, body } = await ask(operation, caller, target);
      if (caller === 'other' || operation.http.opens !== undefined)
        expect(JSON.stringify(body) ?? '').not.toContain(SECRET);
      found.push({ caller, target, expected, got: status < 300 ? 'success' : [status, body.code] });
    }
    return found;
  }

  /** All callers side by side, but for verification: a deployment has one at a time. */
  async function rows(operation: RoutedOperation) {
    if (!['history.verify', 'public.verify'].includes(operation.name)) {
      return Promise.all(callerNames.map((caller) => row(operation, caller)));
    }
    const found = [];
    for (const caller of callerNames) found.push(await row(operation, caller));
    return found;
  }

  it('has requests of operations of the contracts alone', () => {
    expect(routedOperations.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(requests)));
  });

  it.each(routedOperations.map((operation) => [operation.name, operation] as const))(
    '%s answers each caller as the contract says, and neither a refusal nor a read changes a row',
    async (_name, operation) => {
      const before = await dump.read();
      const found = (await rows(operation)).flat();
      expect(found.filter(({ got, expected }) => String(got) !== String(expected))).toEqual([]);
      expect(await dump.read()).toEqual(before);
    },
  );

  const onForeignThings = routedOperations.filter((operation) => parametersOf(operation).length > 0);
  it.each(onForeignThings.map((operation) => [operation.name, operation] as const))(
    '%s looks the same on what is foreign and on what is absent',
    async (_name, operation) => {
      const hidden: Target = { kind: 'owned', visible: visibilities[0] as Visibility };
      const [foreign, absent] = await Promise.all([
        ask(operation, 'other', hidden),
        ask(operation, 'other', { kind: 'nowhere' }),
      ]);
      const shape = ({ status, body, headers }: ApiAnswer) => ({
        ...body,
        status,
        instance: undefined,
        requestId: undefined,
        headers: [...headers.keys()].sort(),
      });
      expect(shape(foreign)).toEqual(shape(absent));
    },
  );

  more?.(() => ({ api, callers }));
}
