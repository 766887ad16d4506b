import type { DrawVerdict, HistoryEntry } from '@orrery/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useDeploymentRef } from '../api/deployments.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { CopyableCode } from '../ui/values.js';
import { type Draw, firstDraws, type Randomness } from './draws.js';
import type { JournalEntry } from './entry-words.js';

const SHOWN = 8;

const SOURCES: Record<Randomness['source'], (of: Randomness) => string> = {
  deployment: () => 'from a secret that the journal had committed to',
  drand: ({ round }) => `from round ${round} of the public beacon, signed after the request`,
  replayed: () => 'the same as in the entry that is repeated',
};

/** Where an entry's random numbers come from, and its first draws, computed again in the page. */
export function RandomNumbers({ entry }: { entry: JournalEntry }) {
  const randomness = 'randomness' in entry ? entry.randomness : undefined;
  return randomness === undefined ? null : (
    // An entry of the stream has all that its hash covers.
    <Drawn key={entry.hash} randomness={randomness} entry={entry as HistoryEntry} />
  );
}

function Drawn({ randomness, entry }: { randomness: Randomness; entry: HistoryEntry }) {
  const { source, seed, commitment, signature } = randomness;
  // A page on plain HTTP has no cryptography.
  const canDraw = globalThis.crypto?.subtle !== undefined;
  const { data: draws } = useQuery({
    queryKey: ['draws', seed],
    queryFn: () => firstDraws(seed, SHOWN),
    enabled: canDraw,
  });
  const code = commitment ?? signature;
  return (
    <div className="space-y-1 text-sm">
      <p>
        <span className="font-medium text-muted">Random numbers</span> {SOURCES[source](randomness)}
      </p>
      <p className="flex flex-wrap gap-x-4">
        <CopyableCode text={seed} what="seed of the draws" short />
        {code !== undefined && (
          <CopyableCode text={code} what={commitment ? 'commitment' : 'signature of the round'} short />
        )}
      </p>
      {draws !== undefined && <Draws draws={draws} />}
      {canDraw && <SeedCheck entry={entry} />}
    </div>
  );
}

/** Whether the seed is made of the secret or the round that the entry names, as far as this page can tell. */
function SeedCheck({ entry }: { entry: HistoryEntry }) {
  const orrery = useOrrery();
  const { world, deployment } = useDeploymentRef();
  const check = useMutation({
    mutationFn: () => orrery.deployment(world, deployment).verifyDraw(entry),
  });
  return (
    <div className="space-y-1">
      <Button size="small" pending={check.isPending} onClick={() => check.mutate()}>
        Check the seed
      </Button>
      <ErrorNote title="The seed could not be checked" error={check.error} />
      {check.data && (
        <p role="status" className={check.data.outcome === 'differs' ? 'text-bad' : ''}>
          {seedWords(check.data)}
        </p>
      )}
    </div>
  );
}

/** What a check of a seed has found, and what it has not looked at. */
export function seedWords({ outcome, committed, revealed }: DrawVerdict): string {
  switch (outcome) {
    case 'holds':
      return revealed === undefined
        ? 'It holds: the signature of the round is that of the beacon, the round was signed after the request, and both give this seed. Verify the history to check the chain of hashes, too.'
        : `It holds: entry ${committed} had committed to the secret that entry ${revealed} reveals, and the secret gives this seed. Verify the history to check the chain of hashes, too.`;
    case 'differs':
      return 'It does not hold: the seed is not made of what the entry names, or the secret was known before. Somebody could choose the numbers.';
    case 'unrevealed':
      return `Not checked yet: entry ${committed} has committed to the secret, and nothing that follows reveals it. The owner can reveal it.`;
    case 'other_beacon':
      return 'Not checked: the round is of a beacon whose keys this page does not know.';
    case 'replayed':
      return 'Not checked: the seed is that of the entry which is repeated. Check it there.';
    case 'too_far':
      return 'Not checked: the commitment or the reveal is more than 10,000 entries away. Verify the history in place of this entry.';
  }
}

const Draws = ({ draws }: { draws: readonly Draw[] }) => (
  <details>
    <summary className="text-muted">The first draws, computed again from the seed</summary>
    <table className="mt-1 font-mono text-xs" aria-label="Draws">
      <thead>
        <tr className="text-left text-muted">
          <th className="pr-4 font-normal">draw</th>
          <th className="pr-4 font-normal">random.int(1, 6)</th>
          <th className="font-normal">random.float()</th>
        </tr>
      </thead>
      <tbody>
        {draws.map(({ k, die, fraction }) => (
          <tr key={k}>
            <td className="pr-4">{k}</td>
            <td className="pr-4">{die ?? 'rejected'}</td>
            <td>{fraction}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);
