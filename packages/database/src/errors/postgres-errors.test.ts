import { ServiceError } from '@orrery/contracts';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import {
  ConnectionLost,
  classifyPostgresError,
  isUniqueViolation,
  noteConnectionError,
  noteUnbegun,
  OutcomeUnknown,
  PoolExhausted,
} from './postgres-errors.js';
import { toCallError, toServiceError } from './to-service-error.js';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('pg'), { code, ...more });

describe('classifyPostgresError', () => {
  it.each([
    ['23505', 'unique_violation'],
    ['23503', 'foreign_key_violation'],
    ['23514', 'check_violation'],
    ['23502', 'not_null_violation'],
  ])('names the constraint of %s', (code, kind) => {
    expect(classifyPostgresError(withCode(code, { constraint: 'worlds_name' }))).toEqual({
      kind,
      constraint: 'worlds_name',
    });
  });

  it.each([
    [withCode('40001'), 'conflict'],
    [withCode('40P01'), 'conflict'],
    [withCode('57014'), 'timeout'],
    [withCode('55P03'), 'timeout'],
    [withCode('ECONNREFUSED'), 'unavailable'],
    [withCode('ENOENT', { syscall: 'connect' }), 'unavailable'],
    [withCode('ETIMEDOUT', { syscall: 'connect' }), 'unavailable'],
    [withCode('53100'), 'storage_full'],
    [withCode('53100', { severity: 'PANIC' }), 'unknown_outcome'],
    [withCode('53200'), 'unavailable'],
    [
      Object.assign(new Error('could not write to file "x": No space left on device'), { code: '58030' }),
      'storage_full',
    ],
    [withCode('53300'), 'unavailable'],
    [withCode('57P03'), 'unavailable'],
    [withCode('25006'), 'unavailable'],
    [withCode('55000'), 'other'],
    [withCode('58P01'), 'other'],
    [withCode('XX000'), 'other'],
    [withCode('XX001'), 'other'],
    [withCode('57P02'), 'unknown_outcome'],
    [withCode('57P04'), 'unknown_outcome'],
    [withCode('57P05'), 'unknown_outcome'],
    [new Error('timeout exceeded when trying to connect'), 'unavailable'],
    [new ConnectionLost('lost'), 'unavailable'],
    [withCode('57P01'), 'unknown_outcome'],
    [withCode('ECONNRESET'), 'unknown_outcome'],
    [new Error('Connection terminated unexpectedly'), 'unknown_outcome'],
    [new Error('Query read timeout'), 'unknown_outcome'],
    [new OutcomeUnknown('lost'), 'unknown_outcome'],
    [withCode('42601'), 'other'],
    [withCode('ENOENT', { syscall: 'open' }), 'other'],
    [new TypeError('x is undefined'), 'other'],
    [undefined, 'other'],
    ['text', 'other'],
  ])('takes %s for %s', (error, kind) => {
    expect(classifyPostgresError(error)).toEqual({ kind });
  });

  it.each([
    [withCode('ECONNABORTED', { syscall: 'read' }), 'unknown_outcome'],
    [withCode('EHOSTUNREACH', { syscall: 'read' }), 'unknown_outcome'],
    [withCode('ENETUNREACH', { syscall: 'write' }), 'unknown_outcome'],
    [withCode('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'), 'unknown_outcome'],
    [withCode('EHOSTUNREACH', { syscall: 'connect' }), 'unavailable'],
  ])('takes %s of a connection of ours for %s', (error, kind) => {
    noteConnectionError(error);
    expect(classifyPostgresError(error)).toEqual({ kind });
  });

  it.each([
    [withCode('28P01'), 'unavailable'],
    [withCode('58P01'), 'unavailable'],
    [withCode('XX001'), 'unavailable'],
    [withCode('57P01'), 'unavailable'],
    [withCode('ECONNRESET'), 'unavailable'],
    [new Error('Connection terminated unexpectedly'), 'unavailable'],
    [new TypeError('the password must be a string'), 'unavailable'],
    [withCode('53100'), 'storage_full'],
  ])('takes %s, with which a session could not begin, for %s', (error, kind) => {
    noteUnbegun(error);
    expect(classifyPostgresError(error)).toEqual({ kind });
    expect(toServiceError(error)).toMatchObject({ code: kind });
    expect(toCallError(error)).toMatchObject({ code: kind });
  });
});

describe('isUniqueViolation', () => {
  it('may ask for one constraint', () => {
    const error = withCode('23505', { constraint: 'worlds_name' });
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'worlds_name')).toBe(true);
    expect(isUniqueViolation(error, 'worlds_address')).toBe(false);
    expect(isUniqueViolation(withCode('23503', { constraint: 'worlds_name' }), 'worlds_name')).toBe(false);
  });
});

describe('toServiceError', () => {
  it.each([
    [withCode('ECONNREFUSED'), 'unavailable', {}],
    [withCode('25006'), 'unavailable', {}],
    [withCode('57014'), 'deadline_exceeded', {}],
    [withCode('40001'), 'overloaded', {}],
    [withCode('53100'), 'storage_full', { retryAfterSeconds: 5 }],
    [new PoolExhausted('all in use'), 'overloaded', {}],
    [new OutcomeUnknown('lost'), 'unavailable', { outcome: 'unknown' }],
    [withCode('23505', { constraint: 'worlds_name' }), 'internal', {}],
  ])('maps %s to %s', (error, code, facts) => {
    expect(toServiceError(error)).toMatchObject({ code, facts, cause: error });
  });

  it('leaves a ServiceError as it is, and tells nothing of the database', () => {
    const refusal = new ServiceError('world_not_found');
    expect(toServiceError(refusal)).toBe(refusal);
    expect(
      toServiceError(Object.assign(new Error('relation "secret" …'), { code: '42P01' })).message,
    ).not.toContain('secret');
  });
});

describe('toCallError', () => {
  const fromServer = (code: string) => Object.assign(new pg.DatabaseError('away', 4, 'error'), { code });

  it.each([
    [fromServer('57P03'), 'unavailable', 'The database is away.'],
    [fromServer('57014'), 'deadline_exceeded', 'The database took too long.'],
    [fromServer('40001'), 'overloaded', 'Too many changes to the same rows at once.'],
    [new PoolExhausted('all in use'), 'overloaded', 'Too many calls wait for the database.'],
    [new ConnectionLost('lost'), 'unavailable', 'The database is away.'],
    [new Error('timeout exceeded when trying to connect'), 'unavailable', 'The database is away.'],
  ])('says of %s nothing about what the handler did before', (error, code, message) => {
    expect(toCallError(error)).toMatchObject({ code, message, cause: error });
  });

  it.each([
    withCode('ECONNREFUSED', { syscall: 'connect' }),
    withCode('ETIMEDOUT'),
    withCode('ECONNRESET'),
    withCode('57P01'),
    new Error('Socket closed: timeout expired'),
    'text',
  ])('takes %s for no error of the database', (error) => {
    expect(toCallError(error)).toMatchObject({ code: 'internal', cause: error });
  });

  it('leaves a ServiceError as it is', () => {
    const refusal = new ServiceError('world_not_found');
    expect(toCallError(refusal)).toBe(refusal);
  });
});
