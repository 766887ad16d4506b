import { describe, expect, it } from 'vitest';
import type { ClaimKind, ClaimRow } from '../database/schema.js';
import { notHeld } from './claims-held.js';

const claim = (kind: ClaimKind, target_id: number): ClaimRow => ({
  deployment: '0x',
  kind,
  target_id,
  world_id: 1,
  revision: 1,
  checked_at: new Date(0),
});
const claims = [claim('world', 1), claim('version', 1), claim('version', 2), claim('schema', 1)];

describe('notHeld', () => {
  it('frees everything of a deployment that is gone', () => {
    expect(notHeld(claims, { exists: false, versionIds: [1], schemaIds: [1] })).toEqual(claims);
  });

  it('keeps the world as long as the deployment, and what it says it holds, by kind', () => {
    const freed = notHeld(claims, { exists: true, versionIds: [2], schemaIds: [] });
    expect(freed).toEqual([claim('version', 1), claim('schema', 1)]);
  });
});
