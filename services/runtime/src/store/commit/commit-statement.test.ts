import { describe, expect, it } from 'vitest';
import { type Batch, batchRows, newBatch } from './batch.js';
import {
  commitStatement,
  INDEXED_STATEMENT,
  ONCE_INDEXED_STATEMENT,
  ONCE_STATEMENT,
  PLAIN_STATEMENT,
  USUAL_INDEXED_STATEMENT,
  USUAL_STATEMENT,
  WHOLE_STATEMENT,
} from './commit-statement.js';

const parametersOf = (text: string) => new Set(text.match(/\$\d+/g)).size;

const batchWith = (parts: Partial<Batch>) => commitStatement(batchRows({ ...newBatch(), ...parts }, 'me'));
const claims = [{ deployment_id: 1, entity_schema: 'horse', schema_id: 2, claim_revision: 1 }];
const named = { scope: 'message', key: 'k' };
const at = new Date(0);
const columns = {
  request_hash: '',
  deployment_id: 1,
  run_id: null,
  reply: null,
  seq: 1,
  created_at: at,
  expires_at: at,
};
const onceKeys = new Map([['message k', { ...named, kind: 'claim' as const, columns }]]);
const endedKeys = new Map([['message k', { ...named, kind: 'end' as const, columns: {} }]]);
const indexed = new Map([['1 a', { indexId: 1, instanceId: 'a', value: 5 as number | undefined }]]);
const unindexed = new Map([['1 a', { indexId: 1, instanceId: 'a', value: undefined }]]);
const built = new Map([[1, { id: 1, built_to: 7, state: 'building' as const }]]);
const runs = new Map([['run', { deploymentId: 1, from: 3, step: 4, columns: {} }]]);

describe('the commit statement', () => {
  it.each([
    ['only what every batch has', {}, PLAIN_STATEMENT],
    ['a once-key that is claimed', { onceKeys }, ONCE_STATEMENT],
    ['a row of what some batches have', { claims }, USUAL_STATEMENT],
    ['a value for an index', { indexed }, INDEXED_STATEMENT],
    ['a value for an index beside a once-key', { indexed, onceKeys }, ONCE_INDEXED_STATEMENT],
    ['a value that leaves an index', { indexed: unindexed, claims }, USUAL_INDEXED_STATEMENT],
    ['an index that is built', { indexed, built }, USUAL_INDEXED_STATEMENT],
    ['a row of what few batches have', { claims, runs }, WHOLE_STATEMENT],
    ['a once-key beside others', { claims, onceKeys }, WHOLE_STATEMENT],
    ['a once-key that ends', { onceKeys: endedKeys }, WHOLE_STATEMENT],
  ])('is no longer than it must be for a batch with %s', (_what, parts, { name, text, parameters }) => {
    const statement = batchWith(parts);
    expect(statement).toMatchObject({ name, text });
    expect(statement.values).toHaveLength(parameters.length);
    expect(parametersOf(text)).toBe(parameters.length);
  });
});
