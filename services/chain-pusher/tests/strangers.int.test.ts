import { canonicalJson } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import { pushContent } from '../src/core/pushes/push-content.js';
import { prepareHouse } from './running-pusher.js';
import { startSolana } from './solana-house.js';
import { sendFromStranger } from './stranger.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
const other = '0'.repeat(64);

/** Memos with which strangers would mark a push as done, stop a lane, or count beyond all bounds. */
const lies: readonly ((digest: string) => object)[] = [
  (digest) => ({ number: 1, digest }),
  () => ({ number: 1, digest: other }),
  () => ({ from: 1, to: Number.MAX_SAFE_INTEGER, digest: other }),
  () => ({ from: 1, to: 100_000_000, digest: other }),
  () => ({ from: 1000, to: 2, digest: other }),
  () => ({ from: 2, to: 40, digest: other }),
];

it('memos of strangers that mention the signer change nothing', async () => {
  const solana = await startSolana();
  const house = await prepareHouse();
  const deployments = lies.map(() => house.runtime.createDeployment());
  const entries = deployments.map((one) => house.runtime.execute(one, { plan, result: { winner: 'A' } }));
  const theirs = lies.map((lie, at) => {
    const deployment = deployments[at] ?? '';
    const { digest } = pushContent(entries[at] as never, 1, null);
    return canonicalJson({ v: 1, deployment, ...lie(digest) });
  });
  for (const memo of theirs) await sendFromStranger(solana.node, solana.signer, memo);
  await vi.waitFor(() => expect(solana.node.memos()).toEqual(theirs), patiently);
  await house.boot(solana.chain);
  await vi.waitFor(async () => {
    for (const deployment of deployments)
      expect((await house.pushes(deployment)).data[0]).toMatchObject({ number: 1, status: 'finalized' });
  }, patiently);
  const ours = solana.memos().slice(lies.length);
  expect(ours.map(({ entryHash }) => entryHash).toSorted()).toEqual(
    entries.map(({ hash }) => hash).toSorted(),
  );
});
