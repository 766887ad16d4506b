import { createHash } from 'node:crypto';
import {
  canonicalHash,
  canonicalJson,
  type HashedEntry,
  type JsonValue,
  type Recorded,
} from '@orrery/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noChanges } from '../execution/check-changes.js';
import { entryText, genesisHash, hashOf, type JournalEntryDraft, sealEntry } from './entry.js';

const AT = '2026-11-21T09:30:01.000Z';

const draft: JournalEntryDraft = {
  deployment: `0x${'4f'.repeat(20)}`,
  id: '0192f0c1-2b3c-7d4e-8f50-61728394a5b6',
  kind: 'execution',
  event: 'settle "race"',
  eventVersion: 3,
  versionHash: 'a'.repeat(64),
  trigger: 'admin',
  caller: 'account:7',
  status: 'succeeded',
  input: { winner: 'HORSE_1', laps: 3 },
  changes: noChanges(),
  result: { b: 1, a: [1e21, -0, 0.1, 'é\u2028'] },
  error: null,
  llmHash: null,
  attestation: null,
  paymentKey: null,
  decidedAt: '2026-11-21T09:30:00.000Z',
  evaluator: 1,
};

/** All that entries of version 2 may have. */
const recorded: Required<Recorded> = {
  timers: [{ id: draft.id, event: 'é', dueAt: AT, key: null, inputHash: 'd'.repeat(64) }],
  cause: { seq: 3, index: 0 },
  depth: 2,
  readHistoryHash: 'e'.repeat(64),
  replayOf: { seq: 7, executedAt: AT },
  randomness: { source: 'drand', seed: 'f'.repeat(64), round: 3 },
};

test('the text that is hashed is the canonical JSON of the entry as a whole', () => {
  const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
  const text = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(
      json,
      json,
      text,
      fc.option(text),
      fc.subarray(Object.keys(recorded)),
      (input, result, caller, event, set) => {
        const entry = {
          ...draft,
          v: 2,
          executedAt: AT,
          seq: 4,
          prevHash: 'b'.repeat(64),
          changes: [
            {
              entitySchema: 'horse',
              instanceId: caller,
              op: 'create',
              set: { input },
              unset: [],
              revision: 1,
            },
          ],
          input: { input },
          result: { result },
          caller,
          event,
          ...Object.fromEntries(set.map((member) => [member, recorded[member as keyof Recorded]])),
        } as HashedEntry;
        expect(entryText(entry)).toBe(canonicalJson(entry as unknown as JsonValue));
      },
    ),
  );
});

test('a sealed entry has its place, and its hash covers all but the hash', () => {
  const entry = sealEntry(draft, {
    v: 2,
    at: AT,
    seq: 1,
    prevHash: genesisHash({ deployment: draft.deployment, source: null }),
  });
  const { hash, text, inputText, changesText, inputHash, ...covered } = entry;
  expect(covered).toMatchObject({ v: 2, seq: 1, changes: [], executedAt: AT, decidedAt: draft.decidedAt });
  expect(text).toBe(canonicalJson(covered as unknown as JsonValue));
  expect(hash).toBe(
    createHash('sha256')
      .update(canonicalJson(covered as unknown as JsonValue))
      .digest('hex'),
  );
  expect([inputText, changesText]).toEqual([canonicalJson(draft.input), '[]']);
  expect(inputHash).toBe(canonicalHash(draft.input));
});

test('every member of an entry changes its hash', () => {
  const entry = sealEntry({ ...draft, recorded }, { v: 2, at: AT, seq: 1, prevHash: 'b'.repeat(64) });
  const { hash: _hash, text: _text, inputText: _i, changesText: _c, inputHash: _h, ...members } = entry;
  const hashes = Object.keys(members).map((member) =>
    hashOf({ ...members, [member]: 'changed' } as HashedEntry),
  );
  expect(new Set([...hashes, hashOf(members)]).size).toBe(Object.keys(members).length + 1);
});

test('a clone starts its chain elsewhere than a deployment of its own', () => {
  const source = { address: `0x${'11'.repeat(20)}`, seq: 9, snapshotHash: 'c'.repeat(64) };
  const own = genesisHash({ deployment: draft.deployment, source: null });
  expect(genesisHash({ deployment: draft.deployment, source })).not.toBe(own);
  expect(own).toBe(
    createHash('sha256').update(`{"deployment":"${draft.deployment}","source":null}`).digest('hex'),
  );
});

test('an entry of version 1 has no members of version 2, and the time that it is given', () => {
  const position = { v: 1, at: AT, seq: 1, prevHash: 'b'.repeat(64) } as const;
  const entry = sealEntry(draft, position);
  expect(Object.keys(JSON.parse(entry.text))).not.toEqual(expect.arrayContaining(['decidedAt']));
  expect(JSON.parse(entry.text)).toMatchObject({ v: 1, executedAt: AT });
  expect(() => sealEntry({ ...draft, recorded: { depth: 1 } }, position)).toThrow('version 1');
});
