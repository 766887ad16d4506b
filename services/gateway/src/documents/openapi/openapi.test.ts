import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpOperations } from '@orrery/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { requestParts, requestSchema } from '../../core/requests/request-schema.js';
import { OUTCOME_EXAMPLES } from './answer-examples.js';
import { openApiDocument } from './document.js';
import {
  answersIn,
  componentsIn,
  isBounded,
  parametersIn,
  propertiesIn,
  sentSchemas,
} from './document.test-support.js';
import { BODY_EXAMPLES } from './examples.js';

// biome-ignore lint/suspicious/noExplicitAny: tests walk through the document freely
const document = openApiDocument(httpOperations) as any;
const file = join(import.meta.dirname, '../../../../../openapi.json');

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

describe('the examples of answers', () => {
  const formats = {
    'date-time': (text: string) => new Date(text).toISOString() === text,
    date: /^\d{4}-\d{2}-\d{2}$/,
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
  ajv.addSchema(document, 'openapi.json');
  const answers = answersIn(document);

  it.each(answers)('%s has some, and each is valid', (_name, { schema, examples }) => {
    const isValid = ajv.compile({ $ref: `openapi.json${schema}` });
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect([isValid(example), isValid.errors]).toEqual([true, null]);
  });

  it('are those of every operation, and no others', () => {
    expect(answers.length).toBeGreaterThan(httpOperations.length);
    const referred = JSON.stringify(document.paths).match(/#\/components\/examples\/\w+/g) ?? [];
    const names = [...new Set(referred)].map((reference) => reference.split('/').at(-1));
    expect(names.sort()).toEqual(Object.keys(document.components.examples).sort());
    const made = new Set(httpOperations.map(({ name }) => name));
    expect(Object.keys(OUTCOME_EXAMPLES).filter((name) => !made.has(name))).toEqual([]);
  });

  it('are refused with a member more, one less or one of another type', () => {
    const [, { schema, examples }] = answers.find(
      ([name]) => name === 'worldsGet 200',
    ) as (typeof answers)[number];
    const isValid = ajv.compile({ $ref: `openapi.json${schema}` });
    const [{ data, ...rest }] = examples as [{ data: object }];
    for (const spoilt of [
      { ...data, more: 1 },
      { ...data, name: undefined },
      { ...data, id: 'one' },
    ])
      expect(isValid(JSON.parse(JSON.stringify({ ...rest, data: spoilt })))).toBe(false);
  });

  it('show each kind of answer of an execution under its own status', () => {
    const { responses } = document.paths['/api/worlds/{worldAddress}/deployments/{address}/execute'].post;
    const kinds = (status: number) => Object.keys(responses[status].content['application/json'].examples);
    expect([kinds(200), kinds(202)]).toEqual([
      ['ExecutionAnswer', 'DryRunAnswer'],
      ['AcceptedExecution', 'TimerAnswer'],
    ]);
  });

  it('of an execution are told apart by `kind`, which every one of them has', () => {
    const { responses } = document.paths['/api/worlds/{worldAddress}/deployments/{address}/execute'].post;
    const { anyOf, discriminator } = responses[200].content['application/json'].schema.properties.data;
    expect(discriminator.propertyName).toBe('kind');
    expect(Object.values(discriminator.mapping)).toEqual(anyOf.map(({ $ref }: { $ref: string }) => $ref));
    const { schemas } = document.components;
    const kinds = ['ExecutionAnswer', 'DryRunAnswer', 'AcceptedExecution'].map((name) => {
      expect(schemas[name].required).toContain('kind');
      return schemas[name].properties.kind.const;
    });
    expect(kinds).toEqual(['committed', 'dry_run', 'accepted']);
    expect(Object.keys(discriminator.mapping)).toEqual(kinds.slice(0, 2));
  });

  it('show the events of the live stream as it sends them, and their data is valid', () => {
    const { get } = document.paths['/api/worlds/{worldAddress}/deployments/{address}/stream'];
    const { schema, example } = get.responses[200].content['text/event-stream'];
    const events = [...example.matchAll(/(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)\n\n/g)];
    expect(events.map(([, id, event]) => [event, id])).toEqual([
      ['execution', '5'],
      ['push', undefined],
      ['end', undefined],
    ]);
    for (const [at, [, , , data = '']] of events.entries()) {
      const isValid = ajv.compile({ $ref: `openapi.json${schema.contentSchema.anyOf[at].$ref}` });
      expect([isValid(JSON.parse(data)), isValid.errors]).toEqual([true, null]);
    }
  });
});
