import { describe, expect, it } from 'vitest';
import { type ClaimKind, idsOf, namedUsers, notHeld, refuseInUse, USERS_SOUGHT } from './claims.js';

const claim = (kind: ClaimKind, target_id: number) => ({ kind, target_id });
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

describe('idsOf', () => {
  it('gives the targets of one kind', () => {
    expect(idsOf(claims, 'version')).toEqual([1, 2]);
  });
});

describe('users of a definition', () => {
  const users = Array.from({ length: USERS_SOUGHT }, (_, index) => `0x${index}`);
  const use = { what: 'It is used', advice: 'Stop that.' };

  it('are named ten at most', () => {
    expect(namedUsers(users.slice(0, 2))).toBe('0x0, 0x1');
    expect(namedUsers(users)).toMatch(/0x9 and others$/);
  });

  it('keep it from being deleted', () => {
    expect(() => refuseInUse('world_in_use', { ...use, users: [] })).not.toThrow();
    expect(() => refuseInUse('world_in_use', { ...use, users })).toThrow(
      expect.objectContaining({ code: 'world_in_use', facts: { usedBy: users.slice(0, 10) } }),
    );
  });
});
