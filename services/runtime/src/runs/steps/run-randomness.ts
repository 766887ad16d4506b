import { type JsonObject, ServiceError } from '@orrery/contracts';
import { type BeaconChain, type RandomSource, waitsForBeacon } from '@orrery/deciding';
import {
  type Beacon,
  type FixedRound,
  isTooLateToDraw,
  laterRound,
  sourceOfBeacon,
} from '../../core/randomness/beacon.js';
import { type RunRow, requestOf } from '../../store/runs/run-store.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { sourceFor } from '../requests/randomness.js';
import type { Resolved } from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import { stagedOutcomeOf, storedOutcome } from './staged-outcome.js';

/** What the process remembers of the round of a run that it drives. */
export interface KnownRound {
  /** The round that it waits for. */
  round?: FixedRound;
  /** What was signed for it, or for an earlier one. */
  beacon?: Beacon;
}

interface DrawingStep extends Pick<RunDependencies, 'randomnessKeys'> {
  readonly row: RunRow;
  readonly drive: KnownRound & { readonly ending?: unknown };
}

/** A run draws the same numbers each time that it is decided. 'beacon': its round has to be asked for first. */
export function sourceOf(
  { row, drive, randomnessKeys }: DrawingStep,
  state: DeploymentState,
  { definition }: Resolved,
): RandomSource | 'beacon' | undefined {
  if (!definition.draws || drive.ending !== undefined) return undefined;
  const { input, replay, round: first } = requestOf(row);
  const staged = row.staged === null ? undefined : stagedOutcomeOf(row);
  const earlier = staged?.entry.recorded?.randomness;
  if (earlier !== undefined || !waitsForBeacon(definition, replay))
    return sourceFor(randomnessKeys, state, { run: row.id, input, earlier, replayed: replay?.seed });
  const round = staged?.round === undefined ? first : staged.round;
  if (!round) throw new ServiceError('randomness_unavailable', round === null ? TOO_LATE : NO_ROUND);
  drive.round = round;
  return drive.beacon?.round === round.number ? sourceOfBeacon(drive.beacon, row.id, input) : 'beacon';
}

const NO_ROUND =
  'When the execution was accepted its event drew nothing from the beacon, so that no round was fixed: execute it again.';
const TOO_LATE =
  'Its payment was unclear for so long that no round of the beacon would be taken for it: execute it again.';

/** The chain whose round `drawnAnew` fixes, if it fixes one. @throws `randomness_unavailable` while it cannot be asked */
export async function chainToDrawAnew({
  row,
  beacons,
  clock,
}: Pick<RunDependencies, 'beacons' | 'clock'> & { readonly row: RunRow }): Promise<BeaconChain | undefined> {
  if (requestOf(row).round === undefined || isTooLateToDraw(row.id, clock.now())) return undefined;
  return beacons.chain();
}

/**
 * While its payment was unclear the caller knew the run's id and its round was public, so that it could compute what it would get
 * and withdraw the payment (ADR 38). Once that is charged the run draws from a round that nobody knows yet.
 */
export function drawnAnew(
  row: RunRow,
  chain: BeaconChain | undefined,
  now: number,
): { readonly staged?: JsonObject } {
  if (requestOf(row).round === undefined) return {};
  const { entry, ...rest } = stagedOutcomeOf(row);
  const { randomness, ...recorded } = entry.recorded ?? {};
  const kept = randomness?.source === 'drand' ? { ...entry, recorded } : entry;
  const round = (chain && laterRound(chain, row.id, now)) ?? null;
  return { staged: storedOutcome({ ...rest, entry: kept, round }) as unknown as JsonObject };
}
