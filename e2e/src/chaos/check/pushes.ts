import type { ChainPush, Evidence } from './evidence.js';

/** Invariants 9 and 19: a chain holds the executions that were to be pushed, all of them, in their order, each once. */
export function wrongPushes({
  entries,
  pushes,
  pushed,
}: Pick<Evidence, 'entries' | 'pushes' | 'pushed'>): string[] {
  const strangers = pushes.filter(({ deployment }) => !pushed.has(deployment));
  return [
    ...strangers.map(({ deployment, number }) => `push ${number} of ${deployment} was never to be pushed`),
    ...[...pushed].flatMap((address) => {
      const expected = entries.filter(
        (entry) => entry.deployment === address && entry.kind === 'execution' && entry.status === 'succeeded',
      );
      const held = pushes.filter(({ deployment }) => deployment === address);
      return wrongLane(
        address,
        expected.map(({ hash }) => hash),
        held,
      );
    }),
  ];
}

function wrongLane(deployment: string, hashes: readonly string[], held: readonly ChainPush[]): string[] {
  const wrong = held.flatMap(({ number, entryHash }, index) => {
    if (number !== index + 1)
      return [`${deployment}: push ${number} stands at position ${index + 1} of the chain`];
    return entryHash === hashes[index]
      ? []
      : [`${deployment}: push ${number} is not of the execution at its position`];
  });
  const missing = hashes.length - held.length;
  return missing === 0
    ? wrong
    : [...wrong, `${deployment}: ${missing} of ${hashes.length} executions are not on the chain`];
}
