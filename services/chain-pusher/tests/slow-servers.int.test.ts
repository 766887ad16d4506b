import { expect, it, vi } from 'vitest';
import { chainDouble, prepareSending } from './sending-house.js';

it('a round that takes longer than the lease of its chain keeps it, though another process waits for it', async () => {
  const { db, lane, start } = await prepareSending();
  const { port, pushed } = chainDouble({ callMs: 400 });
  await lane('a', 1);
  for (const owner of ['one', 'two']) await start(port, { owner, leaseTtlMs: 1000 });
  await vi.waitFor(() => expect(pushed).toMatchObject([{ deployment: 'a' }]), { timeout: 12_000 });
  const { epoch } = await db.selectFrom('chains').select('epoch').executeTakeFirstOrThrow();
  expect(Number(epoch)).toBe(1);
});
