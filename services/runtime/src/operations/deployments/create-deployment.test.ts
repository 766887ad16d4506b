import { ServiceError } from '@orrery/contracts';
import { OutcomeUnknown } from '@orrery/database';
import { expect, it } from 'vitest';
import { SourceChanged } from '../../store/deployments/copy-source.js';
import { PartitionGone } from '../../store/deployments/insert-deployment.js';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import type { DirectorySchema } from '../../store/tables/directory.js';
import { inItsPlace, releasedUnlessCreated, untilUnchanged } from './create-deployment.js';

const failing = (error: Error) => {
  let rounds = 0;
  const outcome = untilUnchanged(async () => {
    rounds += 1;
    throw error;
  });
  return { outcome, rounds: () => rounds };
};

it('says what keeps on changing once it gives up: the source of a clone, or the database of a partition', async () => {
  const [changed, gone] = [failing(new SourceChanged()), failing(new PartitionGone())];
  await expect(changed.outcome).rejects.toMatchObject({
    code: 'write_conflict',
    message: expect.stringContaining('source changes'),
  });
  await expect(gone.outcome).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.not.stringContaining('source'),
  });
  expect([changed.rounds(), gone.rounds()]).toEqual([5, 5]);
});

it('passes other failures on at once', async () => {
  const other = failing(new ServiceError('quota_exceeded'));
  await expect(other.outcome).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(other.rounds()).toBe(1);
});

it('answers with what another request has created, also where the place that it took cannot be given up', async () => {
  let given = 0;
  const directory = databaseThat<DirectorySchema>((statement) => {
    if (statement.includes('nextval')) return [{ id: 128 }];
    if (!statement.startsWith('delete')) return [];
    given += 1;
    throw new Error('away');
  });
  const homes = { isOnly: () => false, id: 'first', partitionsOf: () => [0], directory };
  const context = { homes: homes as never, db: databaseThat(() => []) };
  const planned = { address: `0x${'ab'.repeat(20)}`, ownerAccountId: 1 };
  expect(await inItsPlace(context, planned, async () => ({ id: 64 }))).toEqual({ id: 64 });
  expect(given).toBe(1);
});

/** Whether the claims were released, in a catalog that fails each release. */
async function releases(create: () => Promise<{ address: string }>): Promise<boolean> {
  const released: string[] = [];
  const release = async (address: string) => {
    released.push(address);
    throw new ServiceError('unavailable');
  };
  const outcome = await releasedUnlessCreated({ release }, 'mine', create).catch((error: unknown) => error);
  const expected = await create().catch((error: unknown) => error);
  expect(outcome).toEqual(expected);
  return released.length > 0;
}

it('releases the claims of an address at which nothing was created, whatever becomes of the release', async () => {
  for (const error of [new ServiceError('unknown_event'), new SourceChanged(), new PartitionGone()])
    expect(await releases(() => Promise.reject(error))).toBe(true);
  expect(await releases(async () => ({ address: 'of another request with the same key' }))).toBe(true);
});

it('keeps the claims of what was created, or may have been or be claimed yet', async () => {
  expect(await releases(async () => ({ address: 'mine' }))).toBe(false);
  const unanswered = new ServiceError('unavailable', 'No answer.', { facts: { outcome: 'unknown' } });
  for (const error of [new OutcomeUnknown(), unanswered, new ServiceError('deadline_exceeded')])
    expect(await releases(() => Promise.reject(error))).toBe(false);
});
