import { expect, it } from 'vitest';
import { requestParts } from '../core/requests/request-schema.js';
import { operationTools } from './account-server.js';

it('gives each operation for a key a name and arguments of its own', () => {
  const tools = operationTools();
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  for (const { name, rpc, inputSchema } of tools) {
    expect(name).toMatch(/^[A-Za-z_]{1,64}$/);
    const { params, query, headers } = requestParts(rpc);
    const names = [params, query, headers].flatMap((part) =>
      Object.keys((part as never as { shape: object }).shape),
    );
    expect(new Set(names).size, name).toBe(names.length);
    expect(names).not.toContain('body');
    expect(Object.keys(inputSchema.properties as object)).toEqual(expect.arrayContaining(names));
  }
});
