import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { withClient } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { readJournal } from '../src/load/read-journal.js';
import { homeOf } from '../src/tampering/home-of.js';
import { startJudgedSystem } from '../src/tampering/judged-system.js';
import { seenOf } from '../src/tampering/seen-of.js';
import { type Story, tamperedWorld } from '../src/tampering/tampered-world.js';
import { OF_CHECKPOINTS, OF_CLONES, OF_DECISIONS, OF_DRAWS, OF_ROWS } from '../src/tampering/tamperings.js';
import { complaintOf, type Kept, keep } from '../src/tampering/verify-offline.js';

/** They change what is stored, and nothing that anybody is shown: the same value, or what is computed anew. */
const WITHOUT_A_TRACE = ['changed time by 1 µs', 'changed result in number spelling only', 'forgotten tree'];
/** They change what the service computes from the journal, which itself is as it was: its own check sees them. */
const BESIDE_THE_HISTORY = new Set([
  ...['changed kept state', 'removed kept state', 'changed head hash'],
  ...['removed index row of HOT', 'removed last index row of HOT'],
  'clone: changed kept state of an instance that changed',
  'clone: changed kept state of an unchanged instance',
]);

let database: TestDatabase;
let system: System;
let api: ApiClient;
beforeAll(async () => {
  database = await createTestDatabase();
  system = await startJudgedSystem(database.url);
  api = apiClient(system.url, system.key);
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await database?.drop();
});

async function tried(story: Story, kept: Kept, tamper: (typeof OF_ROWS)[string]) {
  expect(await complaintOf(system, story, kept)).toBeUndefined();
  const before = await seenOf(api, story);
  const journal = await readJournal(api, story.path);
  await withClient(await homeOf(system, story.id), (client) => tamper({ client, story, journal }));
  const isSeen = (await seenOf(api, story)) !== before;
  const { valid } = (await api.get(`${story.path}/history/verify?decisions=true`)).body.data;
  return { isSeen, complaint: await complaintOf(system, story, kept), isValidForTheService: valid };
}

const CASES = { ...OF_ROWS, ...OF_CLONES, ...OF_DECISIONS, ...OF_DRAWS, ...OF_CHECKPOINTS };

describe('an offline verifier that holds nothing but an earlier checkpoint', () => {
  it('is shown forty tamperings and more', () => {
    expect(Object.keys(CASES).length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.entries(CASES))(
    '%s: complains, unless it is one of those that nobody could have seen',
    async (name, tamper) => {
      const world = await tamperedWorld(api);
      const played = await world.play();
      const story = name in OF_CLONES ? await world.clone(played) : played;
      if (name in OF_CHECKPOINTS) await world.growTree(story);
      const kept = await keep(system, story);
      await world.goOn(story);
      const { isSeen, complaint, isValidForTheService } = await tried(story, kept, tamper);
      const couldBeSeen = !BESIDE_THE_HISTORY.has(name) && !WITHOUT_A_TRACE.includes(name);
      expect({ isSeen, complains: complaint !== undefined, complaint }).toMatchObject({
        ...{ isSeen: couldBeSeen, complains: couldBeSeen },
      });
      if (BESIDE_THE_HISTORY.has(name)) expect(isValidForTheService).toBe(false);
    },
  );
});
