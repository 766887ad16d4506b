import { useQuery } from '@tanstack/react-query';
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
  return randomness === undefined ? null : <Drawn randomness={randomness} />;
}

function Drawn({ randomness }: { randomness: Randomness }) {
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
    </div>
  );
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
