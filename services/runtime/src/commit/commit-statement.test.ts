import { describe, expect, it } from 'vitest';
import { newBatch } from '../state/batch.js';
import { batchRows } from './batch-rows.js';
import { COMMIT_STATEMENT, commitStatement } from './commit-statement.js';

const parametersOf = (text: string) => new Set(text.match(/\$\d+/g)).size;

describe('the commit statement', () => {
  it('is the short one for a batch that has only what every batch has', () => {
    const statement = commitStatement(batchRows(newBatch(), 'me'));
    expect(statement.name).not.toBe(COMMIT_STATEMENT.name);
    expect(statement.text).not.toContain('idempotency_keys');
    expect(statement.values).toHaveLength(parametersOf(statement.text));
  });

  it('is the whole one as soon as there is a row of anything else', () => {
    const claims = [{ deploymentId: 1, entitySchema: 'horse', schemaId: 2 }];
    const statement = commitStatement(batchRows({ ...newBatch(), claims }, 'me'));
    expect(statement).toMatchObject(COMMIT_STATEMENT);
    expect(statement.values).toHaveLength(parametersOf(statement.text));
  });
});
