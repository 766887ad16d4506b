import { describe, expect, it } from 'vitest';
import { createProgram } from '../program.js';
import { ADVICE, Refusal } from './refusal.js';

const request = { method: 'GET', path: '/api/worlds' } as const;
const problem = { status: 401, code: 'unauthorized', error: 'The token is not known.' };
const server = { url: 'http://127.0.0.1:3000', key: 'k' };

describe('a refusal', () => {
  it.each(['--key', 'the variable ORRERY_KEY', 'the file /home/me/.orrery/api-key'])(
    'of a key names where it came from: %s',
    (keyFrom) => {
      expect(new Refusal({ ...server, keyFrom }, request, problem).message).toBe(
        'The token is not known. (401 unauthorized)\nRefused: GET /api/worlds\n' +
          `The key came from ${keyFrom}, the server is ${server.url}. --key or ORRERY_KEY gives another key.`,
      );
    },
  );

  it('of a path below /api/api says how to give the address', () => {
    const lost = { status: 404, code: 'route_not_found', error: 'No such route.' };
    expect(new Refusal({ ...server, url: `${server.url}/api` }, request, lost).message).toBe(
      'No such route. (404 route_not_found)\nRefused: GET /api/worlds\n' +
        `Give the address without /api, which the command adds itself: ${server.url}`,
    );
    expect(new Refusal(server, request, lost).message).toMatch(/Refused: GET \/api\/worlds$/);
  });

  it('has all places, and each text once', () => {
    const errors = [
      { pointer: '/name', code: 'too_small', message: 'Too short.' },
      { pointer: '', code: 'invalid', message: 'No object.' },
    ];
    const wrong = { status: 400, code: 'validation_failed', error: '/name: Too short.', errors };
    expect(new Refusal(server, request, wrong).message).toBe(
      '/name: Too short. (400 validation_failed)\n  the body: No object.\nRefused: GET /api/worlds',
    );
  });

  it('names options in place of the parts of a request', () => {
    const message = 'Expected one of "admin"; found the text "x".';
    const errors = [{ pointer: '#query/trigger', code: 'invalid_value', message }];
    const wrong = { status: 400, code: 'validation_failed', error: `#query/trigger: ${message}`, errors };
    expect(new Refusal(server, request, wrong).message).toMatch(/^--trigger: Expected one of "admin"/);
    const header = { ...wrong, error: '#header/if-match: Too long.' };
    expect(new Refusal(server, request, header).message).toMatch(/^--if-match: Too long\./);
  });

  it('of what is not there names the command that lists it, and no request', () => {
    const error =
      'No world that you may see has this address or id. A path takes no name: GET /api/worlds lists your addresses.';
    const lost = { status: 404, code: 'world_not_found', error };
    expect(new Refusal(server, request, lost).message).toBe(
      'No world that you may see has this address or id. (404 world_not_found)\nRefused: GET /api/worlds\n' +
        '`orrery worlds list` shows the worlds that you may see.',
    );
  });

  const program = createProgram({
    env: {},
    write: () => undefined,
    note: () => undefined,
    confirm: async () => false,
  });
  it.each(
    Object.values(ADVICE).flatMap((text) =>
      [...text.matchAll(/`orrery (\w+ \w+)/g)].map((found) => found[1] ?? ''),
    ),
  )('advises a command that there is: %s', (words) => {
    const [group, word] = words.split(' ');
    const below = program.commands.find((one) => one.name() === group)?.commands ?? [];
    expect(below.map((one) => one.name())).toContain(word);
  });

  it('of a text that is made to take long is told at once', () => {
    const lost = { status: 404, code: 'world_not_found', error: ' '.repeat(1e6) };
    expect(new Refusal(server, request, lost).message).toMatch(/\(404 world_not_found\)/);
  });

  it('is a problem document for programs', () => {
    const errors = [{ pointer: '/name', code: 'too_small', message: 'Too short.' }];
    const facts = { limit: 3 };
    const wrong = { status: 409, code: 'limit_reached', error: 'Too many.', errors, facts, requestId: 'r1' };
    const asked = { method: 'GET', path: '/api/worlds?page=2' } as const;
    expect(JSON.parse(JSON.stringify(new Refusal(server, asked, wrong)))).toEqual({
      success: false,
      error: 'Too many.',
      code: 'limit_reached',
      type: 'urn:orrery:problem:limit_reached',
      title: 'A limit is reached',
      status: 409,
      detail: 'Too many.',
      instance: '/api/worlds',
      requestId: 'r1',
      errors,
      facts,
    });
    const unknown = new Refusal(server, asked, { status: 400, code: 'constructor', error: 'No.' });
    expect(JSON.parse(JSON.stringify(unknown))).not.toHaveProperty('title');
    expect(unknown.message).toBe('No. (400 constructor)\nRefused: GET /api/worlds?page=2');
  });

  it('names the command for what the server says of its API', () => {
    const unknown = { status: 400, code: 'unknown_ai_model', error: 'There is no AI model "x".' };
    expect(new Refusal(server, request, unknown).message).toMatch(/`orrery models list` shows the models\.$/);
  });
});
