import { describe, expect, it } from 'vitest';
import { type Batch, batchRows, newBatch } from './batch.js';
import {
  commitStatement,
  ONCE_STATEMENT,
  PLAIN_STATEMENT,
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
const runs = new Map([['run', { deploymentId: 1, from: 3, step: 4, columns: {} }]]);

describe('the commit statement', () => {
  it.each([
    ['only what every batch has', {}, PLAIN_STATEMENT],
    ['a once-key that is claimed', { onceKeys }, ONCE_STATEMENT],
    ['a row of what some batches have', { claims }, USUAL_STATEMENT],
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
