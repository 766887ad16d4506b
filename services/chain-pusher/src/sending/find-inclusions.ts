import { type ChainPort, type ChainView, type Inclusion, ServerLags } from '../core/chains/chain-port.js';
import type { Submission } from '../core/submissions/submission.js';
import { nullUnlessAway } from './sender-options.js';

/** The chain at one time, and as the signer of a submission sees it: one that was replaced has a count of its own. */
export interface SignerViews {
  readonly own: ChainView;
  readonly of: (submission: Submission) => ChainView;
}

export async function viewChain(
  port: ChainPort,
  submissions: readonly Submission[],
  signal: AbortSignal,
): Promise<SignerViews> {
  const own = await port.view(signal);
  const views = new Map([[port.signer, own]]);
  for (const { signer } of submissions) {
    if (views.has(signer)) continue;
    const nonce = await port.countOf(signer, signal).catch(nullUnlessAway(signal));
    views.set(signer, { ...own, nonce });
  }
  return { own, of: ({ signer }) => views.get(signer) ?? own };
}

/** The inclusions of submissions; those that could not be read are left out. */
export async function findInclusions(
  port: ChainPort,
  submissions: readonly Submission[],
  view: ChainView,
  signal: AbortSignal,
): Promise<ReadonlyMap<Submission, Inclusion | undefined>> {
  const found = new Map<Submission, Inclusion | undefined>();
  const findAll = async (some: readonly Submission[]) => {
    const transactions = some.flatMap((submission) => submission.transactions);
    const inclusions = transactions.length === 0 ? [] : await port.find(transactions, view, signal);
    const byId = new Map(inclusions.map((inclusion) => [inclusion.id, inclusion]));
    for (const one of some) found.set(one, bestOf(one.transactions.flatMap(({ id }) => byId.get(id) ?? [])));
  };
  const failed = await findAll(submissions).catch((error: unknown) =>
    error instanceof ServerLags ? undefined : nullUnlessAway(signal)(error),
  );
  if (failed === null) for (const one of submissions) await findAll([one]).catch(nullUnlessAway(signal));
  return found;
}

/** Of a submission's transactions one has the effect; a failed one of the same nonce says less. */
const bestOf = (found: readonly Inclusion[]): Inclusion | undefined =>
  found.find(({ failure }) => failure === null) ?? found[0];
