import { canonicalHash, canonicalJson, type JsonObject } from '@orrery/contracts';
import { foldEntries, type States } from './fold-entries.js';
import {
  type StoredDeployment,
  type StoredEntry,
  type StoredPayment,
  type StoredState,
  withStoredRows,
} from './stored-rows.js';
import { wrongTimers } from './wrong-timers.js';

/**
 * Looks in PostgreSQL, for every deployment, at what must hold whatever happened: `seq` is 1…n, each entry's hash
 * covers it and the one before, failed executions change nothing, the fold of all changes is the instances, and the
 * head and its counters tell the same, each payment has the one execution that its status says, and each timer was executed
 * once, cancelled or replaced, or is pending. Answers a sentence for each violation.
 */
export const findViolations = (databaseUrl: string): Promise<string[]> =>
  withStoredRows(databaseUrl, async (rows) => {
    const violations: string[] = [];
    for (const deployment of await rows.deployments()) {
      const entries = await rows.entries(deployment);
      const before = await rows.origin(deployment);
      const after = await rows.instances(deployment);
      const found = [
        ...brokenLinks(deployment, entries),
        ...entries.flatMap(changesOfFailures),
        ...wrongFold(before, entries, after),
        ...wrongHead(deployment, entries, after),
        ...(await rows.payments(deployment)).flatMap(wrongPayment),
        ...wrongTimers(entries, await rows.timers(deployment)),
      ];
      violations.push(...found.map((what) => `deployment ${deployment.id}: ${what}`));
    }
    return violations;
  });

function brokenLinks({ address, source }: StoredDeployment, entries: readonly StoredEntry[]): string[] {
  let prevHash = canonicalHash({ deployment: address, source: source && { ...source } });
  return entries.flatMap(({ hash, ...covered }, index) => {
    const found: string[] = [];
    if (covered.seq !== index + 1) found.push(`entry ${index + 1} has seq ${covered.seq}`);
    if (covered.prevHash !== prevHash) found.push(`entry ${covered.seq} does not follow the one before`);
    if (canonicalHash(covered as unknown as JsonObject) !== hash)
      found.push(`the hash of entry ${covered.seq} does not cover it`);
    prevHash = hash;
    return found;
  });
}

/** The entries that a payment has, by its status; those under way have none yet. */
const PAID = ['settled', 'unknown', 'uncollected'];
const FAILED = ['released', 'refused', 'refund_due'];

function wrongPayment({ key, status, succeeded, failed }: StoredPayment): string[] {
  const expected = [Number(PAID.includes(status)), Number(FAILED.includes(status))];
  const isRight = succeeded === expected[0] && failed === expected[1];
  return isRight
    ? []
    : [`the payment ${key} is ${status} with ${succeeded} successes and ${failed} failures`];
}

const changesOfFailures = ({ status, changes, seq }: StoredEntry): string[] =>
  status === 'failed' && changes.length > 0 ? [`entry ${seq} failed and changes instances`] : [];

function wrongFold(
  before: readonly StoredState[],
  entries: readonly StoredEntry[],
  after: readonly StoredState[],
): string[] {
  const { states, problems } = foldEntries(before, entries);
  const stored: States = new Map(after.map((row) => [`${row.entitySchema}:${row.instanceId}`, row]));
  const names = new Set([...states.keys(), ...stored.keys()]);
  const different = [...names].filter((name) => textOf(states.get(name)) !== textOf(stored.get(name)));
  return [...problems, ...different.map((name) => `${name} is not what its changes say`)];
}

const textOf = (found: { state: JsonObject; revision: number } | undefined): string =>
  found === undefined ? 'absent' : canonicalJson({ state: found.state, revision: found.revision });

function wrongHead(
  { head, address, source }: StoredDeployment,
  entries: readonly StoredEntry[],
  instances: readonly StoredState[],
): string[] {
  const last = entries.at(-1);
  const expected = {
    seq: last?.seq ?? 0,
    hash: last?.hash ?? canonicalHash({ deployment: address, source: source && { ...source } }),
    totals: totalsOf(entries, instances),
  };
  const found = canonicalJson({ seq: head.seq, hash: head.hash, totals: withoutZeros(head.totals) });
  const wanted = canonicalJson({ ...expected, totals: withoutZeros(expected.totals) });
  return found === wanted ? [] : [`the head is ${found} where the journal says ${wanted}`];
}

function totalsOf(entries: readonly StoredEntry[], instances: readonly unknown[]): Record<string, number> {
  const totals: Record<string, number> = { entries: entries.length, instances: instances.length };
  for (const { kind, trigger, status } of entries) {
    if (kind === 'execution') totals[`${trigger}_${status}`] = (totals[`${trigger}_${status}`] ?? 0) + 1;
  }
  return totals;
}

/** Only the counters that this compares: others may be added. */
const withoutZeros = (totals: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(totals).filter(
      ([name, count]) => count !== 0 && /^(entries|instances|(admin|public|cron|timer)_\w+)$/.test(name),
    ),
  );
