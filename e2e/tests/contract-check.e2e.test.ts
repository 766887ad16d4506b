import { describe, expect, it } from 'vitest';
import { createAnswerCheck } from '../src/api/check-answer.js';
import { routedOperations } from '../src/api/routed-operations.js';

const check = createAnswerCheck();
const json = (more: Record<string, string> = {}) =>
  new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r', ...more });
const problemType = { 'content-type': 'application/problem+json' };
const deleted = { success: true, data: { deleted: true } };
const problem = {
  success: false,
  error: 'gone',
  code: 'world_not_found',
  type: 'urn:orrery:problem:world_not_found',
  title: 'World not found',
  status: 404,
  detail: 'gone',
  instance: '/api/worlds/7',
  requestId: 'r',
};
const checkDeletion = (status: number, body: unknown, headers = json()) =>
  check('DELETE', '/api/worlds/7', { status, headers, body });
const checkProblem = (body: object, headers: Record<string, string> = problemType) =>
  checkDeletion(404, body, json(headers));

/** The check that every answer in the whole flows passes through: it has to bite. */
describe('an answer', () => {
  it('passes as the contract has it', () => {
    expect(() => checkDeletion(200, deleted)).not.toThrow();
    expect(() => checkProblem(problem)).not.toThrow();
  });

  it('has an ETag where the document names one, and nowhere else', () => {
    const names = { id: 7, address: `0x${'7'.repeat(40)}`, name: 'Derby', description: null, domainTags: [] };
    const times = { createdAt: '2026-11-28T09:30:00.000Z', updatedAt: '2026-11-28T09:30:00.000Z' };
    const body = { success: true, data: { ...names, isPublic: true, ...times } };
    const checkWorld = (headers: Headers) => check('GET', '/api/worlds/7', { status: 200, headers, body });
    expect(() => checkWorld(json({ etag: '"1"' }))).not.toThrow();
    expect(() => checkWorld(json())).toThrow('no ETag');
    expect(() => checkDeletion(200, deleted, json({ etag: '"1"' }))).toThrow(
      'an ETag that is not documented',
    );
  });

  it('of the release before may lack what this one fills in, and has nothing else', () => {
    const path = '/api/worlds/7/deployments/8/execute';
    const answer = (data: object) =>
      ({ status: 202, headers: json({ location: path }), body: { success: true, data } }) as const;
    const accepted = { executionId: 'e', state: 'running' };
    const checkEither = createAnswerCheck('this release or the one before');
    expect(() => check('POST', path, answer(accepted))).toThrow('less than is documented');
    expect(() => checkEither('POST', path, answer(accepted))).not.toThrow();
    expect(() => checkEither('POST', path, answer({ kind: 'accepted', ...accepted }))).not.toThrow();
    expect(() => checkEither('POST', path, answer({ ...accepted, kind: 'other' }))).toThrow();
    expect(() => checkEither('POST', path, answer({ ...accepted, at: 1 }))).toThrow();
  });

  it.each([
    [
      'has a property more in its data',
      () => checkDeletion(200, { ...deleted, data: { deleted: true, at: 1 } }),
    ],
    ['has a property more in its envelope', () => checkDeletion(200, { ...deleted, took: 1 })],
    ['lacks its data', () => checkDeletion(200, { success: true })],
    ['says no success', () => checkDeletion(200, { data: { deleted: true } })],
    ['has another status', () => checkDeletion(201, deleted)],
    ['has another type', () => checkDeletion(200, deleted, json({ 'content-type': 'text/html' }))],
    [
      'comes where no operation is',
      () => check('GET', '/api/nothing', { status: 200, headers: json(), body: deleted }),
    ],
    ['is a problem with a property more', () => checkProblem({ ...problem, stack: 'at' })],
    [
      'is a problem with a code that the operation does not document',
      () =>
        checkProblem({
          ...problem,
          code: 'event_not_found',
          title: 'Event not found',
          type: 'urn:orrery:problem:event_not_found',
        }),
    ],
    ['is a problem of another path', () => checkProblem({ ...problem, instance: '/api/worlds/8' })],
    ['is a problem of another request', () => checkProblem({ ...problem, requestId: 's' })],
    ['is a problem in plain JSON', () => checkProblem(problem, {})],
  ])('fails that %s', (_what, act) => {
    expect(act).toThrow(/breaks its contract/);
  });
});

it('knows the operations', () => {
  expect(routedOperations.length).toBeGreaterThan(55);
});
