import type { Divergence, VerifiedHistory } from '@orrery/sdk';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { ErrorNote, Progress } from '../ui/messages.js';
import { Card, Details, Section } from '../ui/page.js';
import { CopyableCode } from '../ui/values.js';
import { proofSentence } from './proof-sentence.js';

export default function VerifyPage() {
  const ref = useDeploymentRef();
  const { run, seq, last, stop } = useVerification(ref);
  return (
    <Section
      title="Verify the history"
      lead="This page reads the whole journal, recomputes the hash of every entry and every state, decides every execution again whose definition you may read, and compares all that with what the service shows."
      actions={
        run.isPending ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <Button look="primary" onClick={() => run.mutate()}>
            {run.isIdle ? 'Verify' : 'Verify again'}
          </Button>
        )
      }
    >
      {run.isPending && (
        <Progress
          label={
            last === 0
              ? 'Reading the journal'
              : `${seq.toLocaleString('en')} of ${last.toLocaleString('en')} entries hold`
          }
          value={last === 0 ? undefined : seq / last}
        />
      )}
      <ErrorNote title="The verification could not end" error={run.error} />
      {run.data && <Verdict deployment={ref} {...run.data} />}
    </Section>
  );
}

/** How often progress is shown, in milliseconds. */
const SHOWN_EVERY_MS = 100;
/** `last` is 0 until the first entry was checked. */
const BEGIN = { seq: 0, last: 0 };

/** A verification that runs in this page, and ends when one leaves it. */
function useVerification({ world, deployment }: DeploymentRef) {
  const orrery = useOrrery();
  const [progress, setProgress] = useState(BEGIN);
  const leaving = useRef<AbortController>(null);
  const run = useMutation({
    mutationFn: async () => {
      if (!globalThis.isSecureContext)
        throw new Error(
          'Browsers compute hashes only on pages over HTTPS or from this machine. Open the console in such a way.',
        );
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      setProgress(BEGIN);
      const from = performance.now();
      const onProgress = atMostEvery(SHOWN_EVERY_MS, (seq, last) => setProgress({ seq, last }));
      const verified = await orrery
        .deployment(world, deployment)
        .verifyHistory({ decisions: true, signal, onProgress });
      return { verified, ms: performance.now() - from };
    },
  });
  useEffect(() => () => leaving.current?.abort(), []);
  const stop = () => {
    leaving.current?.abort();
    run.reset();
  };
  return { run, ...progress, stop };
}

type Progressed = (seq: number, last: number) => void;

function atMostEvery(ms: number, show: Progressed): Progressed {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (seq, last) => {
    const now = performance.now();
    if (now - shownAt < ms) return;
    shownAt = now;
    show(seq, last);
  };
}

interface VerdictProps {
  deployment: DeploymentRef;
  verified: VerifiedHistory;
  ms: number;
}

function Verdict({ deployment, verified, ms }: VerdictProps) {
  const { valid, entries, hash, instances, firstDivergence } = verified;
  return (
    <div role="status">
      <div
        className={classes(
          'rounded-lg border p-4',
          valid ? 'border-ok/40 bg-ok-soft' : 'border-bad/40 bg-bad-soft',
        )}
      >
        <p className={`text-lg font-semibold ${valid ? 'text-ok' : 'text-bad'}`}>{verdictOf(verified)}</p>
        {valid && <p className="mt-1 max-w-3xl">{proofSentence(verified)}</p>}
        {firstDivergence !== null && (
          <>
            <p className="mt-1 max-w-3xl">{FAULTS[firstDivergence.what]}</p>
            <p className="mt-2 flex flex-wrap gap-3">
              {firstDivergence.instance !== undefined && (
                <span className="font-mono break-all">{firstDivergence.instance}</span>
              )}
              <Link
                to="/worlds/$world/deployments/$deployment/live"
                params={{ world: deployment.world, deployment: firstDivergence.deployment }}
                search={{ seq: Math.max(firstDivergence.seq, 1) }}
                className="link"
              >
                Look at entry {firstDivergence.seq}
              </Link>
            </p>
          </>
        )}
      </div>
      <Card className="mt-4">
        <Details
          items={{
            'Entries that hold': entries.toLocaleString('en'),
            'Hash of the last of them': <CopyableCode text={hash} what="hash" />,
            'Instances compared':
              instances?.toLocaleString('en') ??
              'none: the source of this clone cannot be read, so only the chain of hashes was checked',
            ...(verified.decisions && {
              'Executions decided again': verified.decisions.rerun.toLocaleString('en'),
            }),
            Time: `${(ms / 1000).toFixed(1)} s`,
          }}
        />
        <p className="mt-3 max-w-3xl text-sm text-muted">
          Keep the number and the hash: together they name all of the history before them. When a later
          verification shows another hash at that entry, the history was rewritten.
        </p>
      </Card>
    </div>
  );
}

/** What a verification says, in one sentence. */
export function verdictOf({ valid, entries, firstDivergence }: VerifiedHistory): string {
  const count = entries.toLocaleString('en');
  if (valid) return entries === 1 ? 'The one entry holds.' : `All ${count} entries hold.`;
  if (firstDivergence?.what === 'instance_differs')
    return `The chain of ${count} entries holds, but an instance is not what they say.`;
  if (entries === 0) return 'The history does not hold from its first entry.';
  return `The history holds until entry ${count}, and not after it.`;
}

/** What is wrong, by the words of docs/history.md. */
export const FAULTS: Record<Divergence['what'], string> = {
  missing_entry: 'An entry is missing: the numbers do not follow one another.',
  broken_link:
    'An entry does not carry the hash of the one before it: something was removed, inserted or exchanged.',
  wrong_hash: 'An entry has another hash than its content gives: it was changed after it was written.',
  impossible_change: 'An entry changes an instance in a way that cannot follow the state before it.',
  snapshot_differs: 'The instances that this deployment began with are not those of its source.',
  instance_differs: 'An instance has a state that no entry gave it: it was changed beside the history.',
  checkpoint_differs: 'The entries are not those of the checkpoint that was kept: the history was rewritten.',
  head_differs: 'The entries are not those that the operator signs.',
  tail_lost: 'The database lost entries that the checkpoint covers.',
  decision_differs:
    'An execution has an outcome that its definition does not give: it was not decided by these rules.',
  draws_differ:
    'Random numbers of an execution are not made of the secret, or the round of a beacon, that the entry names.',
  definition_differs: 'The definition that is kept for an entry is not the one that the entry names.',
  exchange_differs: 'What a model was asked or answered is not what the entry names.',
};
