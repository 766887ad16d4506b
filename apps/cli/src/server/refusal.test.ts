import { describe, expect, it } from 'vitest';
import { Refusal } from './refusal.js';

const request = { method: 'GET', path: '/api/worlds' } as const;
const problem = { status: 401, code: 'unauthorized', error: 'The token is not known.' };
const server = { url: 'http://127.0.0.1:3000', key: 'k' };

describe('a refusal', () => {
  it.each(['--key', 'the variable ORRERY_KEY', 'the file /home/me/.orrery/api-key'])(
    'of a key names where it came from: %s',
    (keyFrom) => {
      expect(new Refusal({ ...server, keyFrom }, request, problem).message).toBe(
        'GET /api/worlds was refused (401 unauthorized): The token is not known.\n' +
          `The key came from ${keyFrom}, the server is ${server.url}. --key or ORRERY_KEY gives another key.`,
      );
    },
  );

  it('of a path below /api/api says how to give the address', () => {
    const lost = { status: 404, code: 'route_not_found', error: 'No such route.' };
    expect(new Refusal({ ...server, url: `${server.url}/api` }, request, lost).message).toBe(
      'GET /api/worlds was refused (404 route_not_found): No such route.\n' +
        `Give the address without /api, which the command adds itself: ${server.url}`,
    );
    expect(new Refusal(server, request, lost).message).toMatch(/No such route\.$/);
  });

  it('has all places, and each text once', () => {
    const errors = [
      { pointer: '/name', code: 'too_small', message: 'Too short.' },
      { pointer: '', code: 'invalid', message: 'No object.' },
    ];
    const wrong = { status: 400, code: 'validation_failed', error: '/name: Too short.', errors };
    expect(new Refusal(server, request, wrong).message).toMatch(
      /: \/name: Too short\.\n {2}the body: No object\.$/,
    );
  });
});
