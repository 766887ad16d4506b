import type { NotCheckedSeed, NotRerun, VerifiedHistory } from '@orrery/sdk';

const REASONS: Readonly<Record<NotRerun, string>> = {
  version_1: 'written by an earlier release',
  other_evaluator: 'decided by another revision of the rules',
  no_definition: 'whose definitions you may not read',
  model: 'decided by a model whose answer cannot be applied again',
  unknown_members: 'whose definitions have members that this page does not know',
  outside: 'that failed for a reason outside of the history',
  no_states: 'of a clone whose source cannot be read',
};

const SEEDS: Readonly<Record<NotCheckedSeed, string>> = {
  unrevealed: 'whose secret is not revealed yet',
  other_beacon: 'of a beacon that this page does not know',
  replayed: 'which a what-if fork repeats',
};

/** What this page has computed itself, and what one has to believe all the same, in one sentence. */
export function proofSentence({ entries, instances, decisions }: VerifiedHistory): string {
  const { rerun = 0, notRerun = {}, seeds } = decisions ?? {};
  const proven = [
    `the chain of ${counted(entries, 'entry', 'entries')}`,
    ...(instances === null ? [] : [counted(instances, 'instance', 'instances')]),
    ...(rerun === 0 ? [] : [`${counted(rerun, 'decision', 'decisions')}`]),
    ...(seeds === undefined || seeds.checked === 0
      ? []
      : [`the seeds of ${counted(seeds.checked, 'draw', 'draws')}`]),
  ];
  const left = Object.entries(notRerun).filter(([, count]) => count > 0);
  const trusted = left.map(
    ([reason, count]) =>
      `the outcome of ${counted(count, 'execution', 'executions')} ${REASONS[reason as NotRerun]}`,
  );
  const drawn = Object.entries(seeds?.notChecked ?? {}).map(
    ([reason, count]) => `the seeds of ${counted(count, 'draw', 'draws')} ${SEEDS[reason as NotCheckedSeed]}`,
  );
  return `Computed in this page: ${listed(proven)}; on trust: ${listed([...trusted, ...drawn, 'that no other history was shown before'])}.`;
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
