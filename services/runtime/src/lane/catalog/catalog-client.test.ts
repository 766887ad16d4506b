import { expect, it } from 'vitest';
import { createCatalogClient } from './catalog-client.js';

it('releases no claim without its revision, and none but those named', async () => {
  const sent: unknown[] = [];
  const call = async (_rpc: unknown, request: unknown) => sent.push(request);
  const catalog = createCatalogClient({
    keep: async () => undefined,
    bus: { call } as never,
    clock: { now: () => 0, monotonic: () => 0 } as never,
    beforeConfirm: () => undefined,
  });
  await catalog.release('0x1', { versions: [{ id: 1, revision: null }] });
  await catalog.release('0x2', { schemas: [] });
  await catalog.release('0x3', { schemas: [{ id: 1, revision: 4 }] });
  await catalog.release('0x4');
  expect(sent).toEqual([
    { deployment: '0x3', schemas: [{ id: 1, revision: 4 }], versions: [] },
    { deployment: '0x4' },
  ]);
});
