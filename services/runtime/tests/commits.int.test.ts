import { type Clock, systemClock } from '@orrery/service-kit';
import { describe, expect, it, vi } from 'vitest';
import type { Batch } from '../src/store/commit/batch.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();

type AroundCommit = (commit: CommitBatch) => CommitBatch;

/** Commits that begin only when they are let go. The clock stands still until then: no batch ends with its slice of time. */
function heldCommits() {
  const held: { batch: Batch; letGo: () => void }[] = [];
  let isHolding = false;
  let heldAt: number | undefined;
  const clock: Clock = { ...systemClock, monotonic: () => heldAt ?? systemClock.monotonic() };
  const aroundCommit: AroundCommit = (commit) => async (batch) => {
    if (isHolding) await new Promise<void>((letGo) => held.push({ batch, letGo }));
    return commit(batch);
  };
  const hold = () => {
    isHolding = true;
    heldAt = systemClock.monotonic();
  };
  const letGo = () => {
    isHolding = false;
    heldAt = undefined;
    for (const { letGo } of held.splice(0)) letGo();
  };
  const counts = () => held.map(({ batch }) => batch.entries.length);
  return { aroundCommit, clock, counts, hold, letGo, [Symbol.dispose]: letGo };
}

/** Sees what is under way whenever a commit begins. */
function watchedCommits() {
  const underWay = new Set<Batch>();
  const seen = { most: 0, shared: [] as number[] };
  const aroundCommit: AroundCommit = (commit) => async (batch) => {
    for (const other of underWay)
      seen.shared.push(...[...batch.deployments.keys()].filter((id) => other.deployments.has(id)));
    underWay.add(batch);
    seen.most = Math.max(seen.most, underWay.size);
    return commit(batch).finally(() => underWay.delete(batch));
  };
  return { aroundCommit, seen };
}

const plantMany = (count: number) => Promise.all(Array.from({ length: count }, () => plantDeployment(house)));

describe('commits', () => {
  it('are begun beside another one for what is worth it and has no part in that one', async () => {
    const commits = heldCommits();
    const { aroundCommit, clock, counts, hold, letGo } = commits;
    await using _runtime = await house.boot({ aroundCommit, clock });
    // A runtime ends once its commits have.
    using _ = commits;
    const planted = await plantMany(25);
    const executeAll = (from: number, to: number) =>
      planted.slice(from, to).map(({ execute }) => execute({ id: 'a' }));
    hold();
    const executions = executeAll(0, 1);
    await vi.waitFor(() => expect(counts()).toEqual([1]));
    // Seven, and one that has to wait for the first of its deployment.
    executions.push(...executeAll(0, 8));
    // An eighth.
    executions.push(...executeAll(8, 9));
    await vi.waitFor(() => expect(counts()).toEqual([1, 8]));
    executions.push(...executeAll(9, 17));
    await vi.waitFor(() => expect(counts()).toEqual([1, 8, 8]));
    // For these there is no place.
    executions.push(...executeAll(17, 25));
    letGo();
    await Promise.all(executions);
    expect(await planted[0]?.counter('a')).toMatchObject({ state: { count: 2 } });
  });

  it('are a few at once, never with a deployment in both, and leave every journal gapless', async () => {
    const { aroundCommit, seen } = watchedCommits();
    await using _runtime = await house.boot({ aroundCommit });
    const planted = await plantMany(40);
    const client = async ({ execute }: (typeof planted)[number]) => {
      for (let count = 0; count < 4; count += 1) await execute({ id: 'a' });
    };
    await Promise.all([planted, planted, planted].flat().map(client));
    expect(seen.shared).toEqual([]);
    expect([2, 3]).toContain(seen.most);
    for (const { counter, verify } of planted) {
      expect(await counter('a')).toMatchObject({ state: { count: 12 }, revision: 12 });
      expect(await verify()).toMatchObject({ valid: true });
    }
  });

  it('that fail take no other with them', async () => {
    let failing: number | undefined;
    const aroundCommit: AroundCommit = (commit) => async (batch) => {
      if (failing === undefined || !batch.deployments.has(failing)) return commit(batch);
      failing = undefined;
      throw Object.assign(new Error('could not serialize'), { code: '40001' });
    };
    await using _runtime = await house.boot({ aroundCommit });
    const planted = await plantMany(24);
    failing = Number(planted[3]?.deployment.id);
    await Promise.all(planted.flatMap(({ execute }) => [execute({ id: 'a' }), execute({ id: 'a' })]));
    for (const { counter, verify } of planted) {
      expect(await counter('a')).toMatchObject({ state: { count: 2 } });
      expect(await verify()).toMatchObject({ valid: true });
    }
  });
});
