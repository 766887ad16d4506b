import { expect, it } from 'vitest';
import { z } from 'zod';
import { catalogContract } from '../catalog/contract.js';
import { chainContract } from '../chain-contract.js';
import { cpuMs } from '../cpu-time.test-support.js';
import { ServiceError } from '../errors/service-error.js';
import { accountContract, identityContract } from '../identity/contract.js';
import { runtimeContract } from '../runtime/contract.js';
import { liveContract } from '../runtime/live-executions.js';
import { publicContract } from '../runtime/public-execution.js';
import { readingContract } from '../runtime/public-reads.js';
import { schedulerContract } from '../scheduler/contract.js';
import { type NamedRpc, parseRequest } from './rpc.js';

const contracts = [
  accountContract,
  catalogContract,
  chainContract,
  identityContract,
  liveContract,
  publicContract,
  readingContract,
  runtimeContract,
  schedulerContract,
];

/** The greatest body, in UTF-16 units of marks: each takes two bytes. */
const MOST_UNITS = 512 * 1024;
const NAME_UNITS = 2_000;

/** Marks in the order in which normalization by insertion takes the square of their number. */
const marks = (units: number): string => '\u0315'.repeat(units / 2) + '\u0316'.repeat(units / 2);
const manyNames = Array.from({ length: MOST_UNITS / NAME_UNITS }, (_, at) => marks(NAME_UNITS - 10) + at);
const longText = marks(MOST_UNITS);

/** Values that fill one place of the schema with as many hostile texts as a request can hold, for each of its places. */
function hostile(schema: unknown, names: readonly string[] = manyNames): unknown[] {
  if (schema instanceof z.ZodPipe) return hostile(schema.in, names);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => hostile(option, names));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return hostile(schema.unwrap(), names);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, inner]) =>
      hostile(inner, names).map((value) => ({ [key]: value })),
    );
  // Of lists inside lists, the outer one is long.
  if (schema instanceof z.ZodArray)
    return hostile(schema.element, ['name']).map((value) => names.map((name) => renamed(value, name)));
  if (schema instanceof z.ZodString) return [longText];
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodLiteral)
    return [];
  return [Object.fromEntries(names.map((name) => [name, 1]))];
}

/** The value with another name in place of its hostile text. */
function renamed(value: unknown, name: string): unknown {
  if (typeof value === 'string') return name;
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renamed(inner, name)]));
}

function parse(rpc: NamedRpc, request: unknown): void {
  try {
    parseRequest(rpc, request);
  } catch {
    // What a schema makes of it is tested elsewhere.
  }
}

const rpcs = contracts.flatMap((contract) => Object.values<NamedRpc>(contract.rpcs));

it.each(rpcs.map((rpc) => [rpc.subject, rpc] as const))('no text takes long to check: %s', (_, rpc) => {
  // 50 ms are allowed. What has no bound takes seconds to minutes.
  for (const request of hostile(rpc.request)) expect(cpuMs(() => parse(rpc, request))).toBeLessThan(1_000);
});

/** Requests with the value at one place of the schema, for each of its places that are no objects or lists. */
function withValue(schema: unknown, value: unknown): unknown[] {
  if (schema instanceof z.ZodPipe) return withValue(schema.in, value);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => withValue(option, value));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return withValue(schema.unwrap(), value);
  if (schema instanceof z.ZodArray) return withValue(schema.element, value).map((inner) => [inner]);
  if (schema instanceof z.ZodRecord)
    return withValue(schema.valueType, value).map((inner) => ({ name: inner }));
  if (!(schema instanceof z.ZodObject)) return [value];
  const members = Object.entries<unknown>(schema.shape);
  // Without them, no member of a union is looked into.
  const told = members.flatMap(([key, member]) =>
    member instanceof z.ZodLiteral ? [[key, member.value]] : [],
  );
  return members.flatMap(([key, member]) =>
    withValue(member, value).map((inner) => ({ ...Object.fromEntries(told), [key]: inner })),
  );
}

const AWKWARD: readonly unknown[] = [
  ...['{"toString":1}', '{"toString":{},"valueOf":1}', '[[]]', 'null', 'false', '-1', '0.5', '1e300'].map(
    (text) => JSON.parse(text),
  ),
  ...['', 'x', '0x', '1e3', '-', '9'.repeat(100), 'https://', '9999-99-99T99:99:99Z', '\u{1F600}'],
];

it.each(rpcs.map((rpc) => [rpc.subject, rpc] as const))('no value is more than refused: %s', (_, rpc) => {
  for (const value of AWKWARD)
    for (const request of withValue(rpc.request, value))
      try {
        parseRequest(rpc, request);
      } catch (error) {
        expect(error, JSON.stringify(request)).toBeInstanceOf(ServiceError);
      }
});

it('tells no more of unknown properties than an answer holds', () => {
  const body = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`descriptino${at}`, 1]));
  const request = { params: {}, query: {}, headers: {}, body };
  expect(cpuMs(() => parse(catalogContract.rpcs['worlds.create'], request))).toBeLessThan(3_000);
});
