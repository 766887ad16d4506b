import { type Guards, type JsonValue, ServiceError } from '@orrery/contracts';
import { changeKey, sameJson } from '../journal/change.js';
import type { AppliedChange } from './apply-changes.js';
import type { Proposal } from './proposal.js';

/**
 * Refuses with `change_not_allowed` what a version's guards forbid, whatever proposed it. Creating is allowed unless
 * `create` is false. Deleting: a template may unless `delete` is false, a model only where it is true.
 */
export function checkGuards(guards: Guards, from: Proposal['from'], changes: readonly AppliedChange[]): void {
  if (guards.maxInstances !== undefined && changes.length > guards.maxInstances) {
    throw new ServiceError(
      'change_not_allowed',
      `this event may change at most ${guards.maxInstances} instances`,
      {
        facts: { reason: 'maxInstances', limit: guards.maxInstances, changes: changes.length },
      },
    );
  }
  for (const change of changes) checkOne(guards, from, change);
}

function checkOne(guards: Guards, from: Proposal['from'], change: AppliedChange): void {
  const mayDelete = guards.delete ?? from === 'template';
  if (change.after === null && !mayDelete) throw forbidden(change, 'delete', 'may not delete');
  if (change.before === null && guards.create === false) throw forbidden(change, 'create', 'may not create');
  if (change.after === null) return;
  for (const attribute of guards.deny ?? []) refuseDenied(change, attribute);
  if (change.before === null) return;
  for (const [attribute, limit] of Object.entries(guards.maxDelta ?? {}))
    refuseLeap(change, attribute, limit);
}

/** A new instance's denied attribute may hold its default, nothing else. */
function refuseDenied(change: AppliedChange, attribute: string): void {
  const before = change.schema.withDefaults(change.before?.state ?? {});
  if (sameJson(before[attribute], change.after?.[attribute])) return;
  throw forbidden(change, 'deny', `may not change "${attribute}" of`, { attribute });
}

/** What is no number counts as 0, so that taking a number away and giving it back stays bounded too. */
function refuseLeap(change: AppliedChange, attribute: string, limit: number): void {
  const before = change.schema.withDefaults(change.before?.state ?? {})[attribute];
  const delta = Math.abs(numberOf(change.after?.[attribute]) - numberOf(before));
  if (delta <= limit) return;
  throw forbidden(change, 'maxDelta', `may change "${attribute}" by at most ${limit} in`, {
    attribute,
    limit,
  });
}

const numberOf = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

const forbidden = (
  change: AppliedChange,
  reason: string,
  what: string,
  facts: Record<string, JsonValue> = {},
) =>
  new ServiceError('change_not_allowed', `this event ${what} ${changeKey(change)}`, {
    facts: { key: changeKey(change), reason, ...facts },
  });
