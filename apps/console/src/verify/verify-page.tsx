import type { VerifiedHistory } from '@orrery/sdk';
import { Link, useParams } from '@tanstack/react-router';
import type { DeploymentRef } from '../api/records.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { CopyableCode } from '../ui/copy.js';
import { Details } from '../ui/details.js';
import { ErrorNote } from '../ui/error-note.js';
import { Card, Section } from '../ui/page.js';
import { Progress } from '../ui/progress.js';
import { useVerification } from './use-verification.js';
import { FAULTS, verdictOf } from './verdict.js';

/** Recomputes the history of a deployment here, without trust in the service. */
export function VerifyPage() {
  const ref = useParams({ from: '/worlds/$world/deployments/$deployment/verify' });
  const { state, start, stop } = useVerification(ref);
  const isRunning = state.kind === 'running';
  return (
    <Section
      title="Verify the history"
      lead="This page reads the whole journal, recomputes the hash of every entry and every state, and compares them with what the service shows. Nothing is taken on trust."
      actions={
        isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <Button look="primary" onClick={start}>
            {state.kind === 'idle' ? 'Verify' : 'Verify again'}
          </Button>
        )
      }
    >
      {isRunning && (
        <Progress
          label={
            state.last === 0
              ? 'Reading the journal'
              : `${state.seq.toLocaleString('en')} of ${state.last.toLocaleString('en')} entries hold`
          }
          value={state.last === 0 ? undefined : state.seq / state.last}
        />
      )}
      {state.kind === 'failed' && <ErrorNote title="The verification could not end" error={state.error} />}
      {state.kind === 'ended' && <Verdict deployment={ref} verified={state.verified} ms={state.ms} />}
    </Section>
  );
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
          items={[
            ['Entries that hold', entries.toLocaleString('en')],
            ['Hash of the last of them', <CopyableCode key="hash" text={hash} what="hash" />],
            [
              'Instances compared',
              instances === null
                ? 'none: the source of this clone cannot be read, so only the chain of hashes was checked'
                : instances.toLocaleString('en'),
            ],
            ['Time', `${(ms / 1000).toFixed(1)} s`],
          ]}
        />
        <p className="mt-3 max-w-3xl text-sm text-muted">
          Keep the number and the hash: together they name all of the history before them. When a later
          verification shows another hash at that entry, the history was rewritten.
        </p>
      </Card>
    </div>
  );
}
