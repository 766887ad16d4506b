import { type CallContext, type Caller, type RevealedRandomness, ServiceError } from '@orrery/contracts';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { commitmentsOf, openedBy, type RandomnessKeys } from '../../core/randomness/secrets.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { Effects } from '../../store/commit/effects.js';
import type { KnownDeployment } from '../../store/deployments/deployment-directory.js';
import { type DeploymentState, WHAT_RUNS } from '../../store/state/deployment-state.js';

type Secrets = RevealedRandomness['secrets'];

/**
 * The entry that reveals what a deployment has committed to; undefined: nothing is open. The next execution that draws commits
 * to a new secret.
 */
export function revelationOf(
  keys: RandomnessKeys,
  { row }: Pick<DeploymentState, 'row'>,
  caller: Caller,
  now: number,
): { readonly secrets: Secrets; readonly effects: Effects } | undefined {
  const opened = commitmentsOf(row).open.flatMap((one) => {
    const secret = openedBy(keys, row.address, one);
    return secret === undefined ? [] : [{ one, secret: Buffer.from(secret).toString('hex') }];
  });
  if (opened.length === 0) return undefined;
  const secrets = opened.map(({ one: { commitment }, secret }) => ({ commitment, secret }));
  // Those whose key is gone stay open: it may come back.
  const open = commitmentsOf(row).open.filter((one) => !opened.some((each) => each.one === one));
  const entry = lifecycleEntry('randomness_revealed', row.address, caller, now, { secrets });
  return { secrets, effects: { entry, row: { randomness: { open, hasCurrent: false } } } };
}

/** What was staged was drawn and is not committed: until then nobody may compute it. */
const BUSY = 'A payment is being settled: reveal the secrets in a few minutes.';

/** @throws `deployment_busy` while a payment settles */
export const revealItem = (
  keys: RandomnessKeys,
  { id }: KnownDeployment,
  { deadline, signal, caller }: CallContext,
): WorkItem<RevealedRandomness> => ({
  deploymentId: id,
  deadline,
  signal,
  prepare: () => undefined,
  decide: (state, _ids, now): ItemOutcome<RevealedRandomness> => {
    if (state.runs.isHeld(WHAT_RUNS) || state.runs.awaiting > 0)
      throw new ServiceError('deployment_busy', BUSY);
    const revealed = revelationOf(keys, state, caller, now);
    if (revealed === undefined) return { kind: 'answer', answer: { secrets: [], seq: null } };
    const { secrets, effects } = revealed;
    return { kind: 'commit', effects, answer: ({ seq }) => ({ reply: { secrets, seq } }) };
  },
});
