import { createTestDatabase } from '@orrery/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { startSystem } from '../src/starting/start-system.js';
import { playStories } from '../src/world-model/play-story.js';

it('40 random stories end as a simple model foretells', async () => {
  await using database = await createTestDatabase();
  await using system = await startSystem(database.url, { RATE_LIMITS: 'false' });
  const api = apiClient(system.url, system.key);
  await playStories({ api, stories: 40, commands: 15, lanes: 10, seed: 20_261_121 });
  expect(await findViolations(database.url)).toEqual([]);
});
