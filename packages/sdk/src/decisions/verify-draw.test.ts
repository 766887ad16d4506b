import { commitmentOf, seedOf, sha256Hex } from '@orrery/deciding';
import { expect, it } from 'vitest';
import type { HistoryEntry, Journal } from '../journal/journal.js';
import { hashedText } from '../verification/hash-chain.js';
import { verifyDraw } from './verify-draw.js';

const SECRET = new Uint8Array(32).fill(1);
const commitment = commitmentOf(SECRET);
const seed = seedOf(SECRET, 'run', sha256Hex('{}'));

type Given = Pick<HistoryEntry, 'kind'> & Partial<HistoryEntry>;
const committed: Given = { kind: 'randomness_committed', input: { commitment } };
const reveal = (secret: string): Given => ({
  kind: 'randomness_revealed',
  input: { secrets: [{ commitment, secret }] },
});
const revealed = reveal(Buffer.from(SECRET).toString('hex'));
const drawn = {
  kind: 'execution',
  randomness: { source: 'deployment', commitment, run: 'run', seed },
} as Given;
const others = (count: number): Given[] =>
  Array.from({ length: count }, () => ({ kind: 'instance_created' }));

/** What becomes of the only draw in a journal of these entries. */
function verdictOf(...given: Given[]) {
  const entries = given.map((one, at) => {
    const entry = { v: 2, input: {}, ...one, seq: at + 1 } as HistoryEntry;
    return { ...entry, hash: sha256Hex(hashedText(entry) ?? '') };
  });
  const journal: Journal = {
    lastSeq: async () => entries.length,
    newestFirst: async function* ({ after = Infinity } = {}) {
      yield* entries.filter(({ seq }) => seq < after).reverse();
    },
    inOrder: async function* ({ after = 0 } = {}) {
      yield* entries.slice(after);
    },
  };
  return verifyDraw(journal, entries[given.indexOf(drawn)] as HistoryEntry, undefined);
}

it('holds a seed to the secret that is committed to before it and told after it', async () => {
  const between = others(2);
  expect(await verdictOf(committed, ...between, drawn, ...between, revealed)).toEqual({
    outcome: 'holds',
    committed: 1,
    revealed: 7,
  });
  expect(await verdictOf(committed, drawn)).toMatchObject({ outcome: 'unrevealed', committed: 1 });
  expect(await verdictOf(drawn, committed, revealed)).toMatchObject({ outcome: 'differs' });
});

it('refutes a seed whose secret was told before it', async () => {
  const outcome = 'differs';
  expect(await verdictOf(committed, revealed, drawn)).toEqual({ outcome, committed: 1, revealed: 2 });
  expect(await verdictOf(committed, revealed, drawn, revealed)).toMatchObject({ outcome, revealed: 2 });
  expect(await verdictOf(committed, ...others(10_000), revealed, drawn)).toMatchObject({ outcome });
  // Another secret than that of the commitment tells nothing.
  expect(await verdictOf(committed, reveal('ab'), drawn, revealed)).toMatchObject({ outcome: 'holds' });
});

it('says that it is too far to the commitment or the reveal', async () => {
  const far = others(10_000);
  expect(await verdictOf(committed, ...far, drawn, revealed)).toEqual({ outcome: 'too_far' });
  expect(await verdictOf(committed, drawn, ...far, revealed)).toEqual({ outcome: 'too_far', committed: 1 });
  const near = others(9_999);
  expect(await verdictOf(committed, ...near, drawn, ...near, revealed)).toMatchObject({ outcome: 'holds' });
});
