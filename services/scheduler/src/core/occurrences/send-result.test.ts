import { ERRORS, type ErrorCode, ServiceError, type ServiceExecution } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { mayRetry, resultOf, resultOfError } from './send-result.js';

describe('what an execution says of an attempt', () => {
  const ended = { state: 'ended', historyId: 'h', seq: 3 };
  const read = (execution: object) => resultOf(execution as ServiceExecution);

  it('that has ended', () => {
    expect(read({ ...ended, status: 'succeeded', answer: { result: 5 } })).toEqual({
      kind: 'succeeded',
      historyId: 'h',
      seq: 3,
      result: 5,
    });
    expect(read({ ...ended, status: 'succeeded', answer: {} })).toMatchObject({ result: null });
    const error = { code: 'constraint_violated', detail: 'no' };
    expect(read({ ...ended, status: 'failed', error })).toEqual({
      kind: 'failed',
      error,
      entry: { historyId: 'h', seq: 3 },
    });
  });

  it('that runs: nothing yet', () => {
    expect(read({ state: 'running' })).toEqual({ kind: 'unknown', error: undefined });
  });
});

describe('what an error says of an attempt', () => {
  it.each<[ErrorCode, string]>([
    ['binding_changed', 'changed'],
    ['event_not_bound', 'changed'],
    ['deployment_not_found', 'changed'],
    ['unknown_event_version', 'changed'],
    ['deployment_paused', 'skipped'],
    ['unavailable', 'unknown'],
    ['internal', 'unknown'],
    ['validation_failed', 'failed'],
  ])('%s: %s', (code, kind) => {
    expect(resultOfError(new ServiceError(code)).kind).toBe(kind);
  });

  it('that is none of ours: nothing', () => {
    const error = new Error('the connection broke');
    expect(resultOfError(error)).toEqual({ kind: 'unknown', error });
  });
});

it('a further attempt is made after an error that may pass', () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[])
    expect(mayRetry({ code, detail: '' })).toBe(ERRORS[code].retryable);
  expect(mayRetry({ code: 'of_a_later_release', detail: '' })).toBe(false);
});
