import { expect, it } from 'vitest';
import { catalogContract } from '../catalog/contract.js';
import { accountContract, identityContract } from '../identity/contract.js';
import type { Contract } from '../rpc/rpc.js';
import { runtimeContract } from '../runtime/contract.js';
import { liveContract } from '../runtime/live-executions.js';
import { ERRORS } from './service-error.js';

const contracts: Contract[] = [
  catalogContract,
  runtimeContract,
  liveContract,
  identityContract,
  accountContract,
];

/** A zod schema, or one of its checks, as far as its own message goes. */
interface Checked {
  _zod: { def: { error?: (issue: unknown) => string | undefined } };
}

/** The messages that the schemas below `value` give in place of zod's own. */
function messagesIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (Array.isArray(value)) return value.flatMap((item) => messagesIn(item, seen));
  if (!('_zod' in value)) return Object.values(value).flatMap((item) => messagesIn(item, seen));
  const { def } = (value as Checked)._zod;
  const own = def.error?.({});
  return [...(own === undefined ? [] : [own]), ...messagesIn({ ...def }, seen)];
}

it.each(Object.entries(ERRORS))(
  'the title of %s has a capital letter and no full stop',
  (_code, { title }) => {
    expect(title).toMatch(/^[A-Z].*[^.]$/);
  },
);

const messages = [
  ...new Set(contracts.flatMap(({ rpcs }) => Object.values(rpcs)).flatMap((rpc) => messagesIn(rpc.request))),
];

it('the contracts have messages of their own', () => {
  expect(messages).toContain('A name may have at most 255 characters.');
  expect(messages.length).toBeGreaterThan(10);
});

it.each(messages)('"%s" is a full sentence', (message) => {
  expect(message).toMatch(/^[A-Z].*\.$/);
});
