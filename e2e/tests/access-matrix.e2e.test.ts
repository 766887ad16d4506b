import { createTestDatabase } from '@orrery/testing';
import { describe, expect, it } from 'vitest';
import { askFor } from '../src/access/callers.js';
import { makeWorldPaths } from '../src/access/world-paths.js';
import { startSystem } from '../src/starting/start-system.js';
import { accessMatrix, type Start, unhurried, writes } from './access-matrix-suite.js';

describe('all in one', () => {
  const start: Start = async (cleanUp) => {
    const database = await createTestDatabase();
    cleanUp.push(() => database.drop());
    return startSystem(database.url, unhurried);
  };
  accessMatrix(start, (system) => {
    // No chain has refused a push here: the chain-pusher's own tests retry and skip one.
    const doable = writes.filter(([name]) => !name.startsWith('pushes.'));
    it.each(doable)('%s is done for its owner, on a world of its own', async (_name, operation) => {
      const { api, callers } = system();
      const world = await makeWorldPaths(api, { world: false, deployment: false });
      const answer = await askFor(callers('owner', operation.access.scope), operation, world);
      expect(answer.status, JSON.stringify(answer.body)).toBe(operation.http.status);
    });
  });
});
