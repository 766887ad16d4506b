import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpOperations } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { requestParts, requestSchema } from '../operations/request-schema.js';
import { openApiDocument } from './document.js';
import { componentsIn, isBounded, parametersIn, propertiesIn, sentSchemas } from './document.test-support.js';
import { BODY_EXAMPLES } from './examples.js';

// biome-ignore lint/suspicious/noExplicitAny: tests walk through the document freely
const document = openApiDocument(httpOperations) as any;
const file = join(import.meta.dirname, '../../../../openapi.json');

describe('the OpenAPI document', () => {
  it('equals the committed copy, which `npm run openapi` writes', () => {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('has every route under its method', () => {
    for (const { http } of httpOperations)
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
      description: 'How many items a page has at most.',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  it('describes every property, parameter and record', () => {
    const described = [...propertiesIn(document), ...parametersIn(document), ...componentsIn(document)];
    expect(described.length).toBeGreaterThan(900);
    const silent = described.filter(([, { description }]) => !/^[`A-Z1-9].*\.$/s.test(description ?? ''));
    expect(silent.map(([place]) => place)).toEqual([]);
  });

  it('bounds every text, whole number and list that is sent', () => {
    const unbounded = sentSchemas(document).filter(([, schema]) => !isBounded(schema));
    expect(unbounded.map(([place]) => place)).toEqual([]);
  });

  it('has an example of every parameter that is required', () => {
    const bare = parametersIn(document).filter(([, one]) => one['required'] && one['example'] === undefined);
    expect(bare.map(([place]) => place)).toEqual([]);
  });

  it('says what every group of operations is about', () => {
    for (const { name, description } of document.tags) expect(description).not.toBe(name);
  });

  it('names every event of the live stream', () => {
    const { get } = document.paths['/api/worlds/{worldAddress}/deployments/{address}/stream'];
    const { description, contentSchema } = get.responses[200].content['text/event-stream'].schema;
    for (const event of ['execution', 'push', 'end']) expect(description).toContain(`\`${event}\`: `);
    const records = contentSchema.anyOf.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1));
    expect(records).toEqual(['LiveExecution', 'Push', 'StreamEnd']);
  });

  it('says of every operation who may send it, and of every scope what it allows', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object));
    expect(operations.length).toBeGreaterThan(60);
    for (const { description, security } of operations) {
      expect(description).toMatch(/^(Anyone may send it|It takes a)/);
      for (const scope of security[0]?.apiKey ?? []) {
        expect(description).toContain(`\`${scope}\``);
        expect(document.components.securitySchemes.apiKey['x-scopes'][scope]).toBeTruthy();
      }
    }
  });

  it('names the scope of each operation', () => {
    expect(document.paths['/api/worlds'].post.security).toEqual([{ apiKey: ['write'] }]);
    expect(document.paths['/api/me'].get.security).toEqual([{ apiKey: [] }]);
  });

  it.each(
    httpOperations.filter((rpc) => requestSchema(rpc).body !== 'none').map((rpc) => [rpc.name, rpc] as const),
  )('gives %s a body as an example, and it is valid', (name, rpc) => {
    expect(requestParts(rpc).body.safeParse(BODY_EXAMPLES[name]).error).toBeUndefined();
  });
});
