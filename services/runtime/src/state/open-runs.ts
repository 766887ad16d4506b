import type { Holds, OpenRun } from './deployment-state.js';

/** What an item can wait for: each name is held by the runs in `OpenRuns.holdersOf`. */
export type HoldName = string;

export const ofInstance = (key: string): HoldName => `instance ${key}`;
/** A schema that is held whole. */
export const ofSchema = (schema: string): HoldName => `schema ${schema}`;
/** Held with any instance of a schema, so that another run cannot hold the schema whole. */
export const ofInstancesIn = (schema: string): HoldName => `instances in ${schema}`;
/** What a run that waits for its payment holds: the bindings, the mode and the pauses. */
export const WHAT_RUNS: HoldName = 'what runs';
/**
 * What a run waits for that is to be staged, while an item waits for `WHAT_RUNS`: many runs can hold that at the same
 * time, so steady payments would keep the item out for ever. The item waits for staged runs only, and those wait for
 * nobody, so the two never wait for each other.
 */
export const TURN_TO_STAGE: HoldName = 'turn to stage';

export const schemaOf = (key: string): string => key.slice(0, key.indexOf(':'));

const namesOf = ({ holds, staged }: Pick<OpenRun, 'holds' | 'staged'>): HoldName[] => [
  ...(holds?.instances ?? []).flatMap((key) => [ofInstance(key), ofInstancesIn(schemaOf(key))]),
  ...(holds?.schemas ?? []).map(ofSchema),
  ...(staged ? [WHAT_RUNS] : []),
];

const NO_RUNS: ReadonlySet<string> = new Set();

/**
 * The runs of a deployment that have not ended, by id, and an index of what they hold and claim: a look-up costs the
 * same however many runs there are.
 */
export class OpenRuns {
  readonly #runs = new Map<string, OpenRun>();
  readonly #holders = new Map<HoldName, Set<string>>();
  readonly #claims = new Map<string, OpenRun>();
  #room = 0;
  #awaiting = 0;

  constructor(runs: readonly OpenRun[] = []) {
    for (const run of runs) this.set(run);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Runs whose payments are unclear, or that are decided anew after them. */
  get awaiting(): number {
    return this.#awaiting;
  }

  /** Instances for which runs have reserved room. */
  get room(): number {
    return this.#room;
  }

  get(id: string): OpenRun | undefined {
    return this.#runs.get(id);
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  set(run: OpenRun): void {
    this.delete(run.id);
    this.#runs.set(run.id, run);
    this.#room += run.holds?.room ?? 0;
    if (run.awaitsPayment) this.#awaiting += 1;
    if (run.claim !== null) this.#claims.set(run.claim.keyId, run);
    for (const name of namesOf(run)) {
      const holders = this.#holders.get(name);
      if (holders === undefined) this.#holders.set(name, new Set([run.id]));
      else holders.add(run.id);
    }
  }

  delete(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.#runs.delete(id);
    this.#room -= run.holds?.room ?? 0;
    if (run.awaitsPayment) this.#awaiting -= 1;
    if (run.claim !== null) this.#claims.delete(run.claim.keyId);
    for (const name of namesOf(run)) {
      const holders = this.#holders.get(name);
      holders?.delete(id);
      if (holders?.size === 0) this.#holders.delete(name);
    }
  }

  /** The run that has claimed an Idempotency-Key. */
  claimantOf(keyId: string): OpenRun | undefined {
    return this.#claims.get(keyId);
  }

  holdersOf(name: HoldName): ReadonlySet<string> {
    return this.#holders.get(name) ?? NO_RUNS;
  }

  /** Whether another run than `own` holds this. */
  isHeld(name: HoldName, own?: string): boolean {
    const holders = this.holdersOf(name);
    return holders.size > (own !== undefined && holders.has(own) ? 1 : 0);
  }
}

/** The first name that a run wants to hold and another run holds; `undefined` when it can hold all of them. */
export function inTheWayOf(wanted: Holds, runs: OpenRuns, own: string): HoldName | undefined {
  for (const key of wanted.instances) {
    for (const name of [ofInstance(key), ofSchema(schemaOf(key))]) if (runs.isHeld(name, own)) return name;
  }
  for (const schema of wanted.schemas) {
    for (const name of [ofSchema(schema), ofInstancesIn(schema)]) if (runs.isHeld(name, own)) return name;
  }
  return undefined;
}
