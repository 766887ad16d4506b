import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestParts, requestSchema } from '../operations/request-schema.js';
import { allRoutes } from '../operations/routes.js';
import { openApiDocument } from './document.js';
import { BODY_EXAMPLES } from './examples.js';

// biome-ignore lint/suspicious/noExplicitAny: tests walk through the document freely
const document = openApiDocument(allRoutes) as any;
const file = join(import.meta.dirname, '../../../../openapi.json');

describe('the OpenAPI document', () => {
  it('equals the committed copy, which `npm run openapi` writes', () => {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('has every route under its method', () => {
    for (const { http } of allRoutes)
      expect(document.paths[http.path.replaceAll(/:(\w+)/g, '{$1}')]).toHaveProperty(
        http.method.toLowerCase(),
      );
  });

  it('resolves every reference', () => {
    const references = JSON.stringify(document).match(/"#\/[^"]+"/g) ?? [];
    for (const reference of new Set(references)) {
      const steps = reference.slice(3, -1).split('/');
      expect(
        steps.reduce((node, step) => node?.[step], document),
        reference,
      ).toBeDefined();
    }
  });

  it('describes a query parameter by its parsed type', () => {
    const { parameters } = document.paths['/api/worlds'].get;
    expect(parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  it('names the scope of each operation', () => {
    expect(document.paths['/api/worlds'].post.security).toEqual([{ apiKey: ['write'] }]);
    expect(document.paths['/api/me'].get.security).toEqual([{ apiKey: [] }]);
  });

  it.each(
    allRoutes.filter((rpc) => requestSchema(rpc).body !== 'none').map((rpc) => [rpc.name, rpc] as const),
  )('gives %s a body as an example, and it is valid', (name, rpc) => {
    expect(requestParts(rpc).body.safeParse(BODY_EXAMPLES[name]).error).toBeUndefined();
  });
});
