import type { CheckedDecisions, Divergence, NotCheckedSeed, NotRerun, VerifiedHistory } from '@orrery/sdk';
import { FAULTS } from './faults.js';

const REASONS: Readonly<Record<NotRerun, string>> = {
  version_1: 'were written by an earlier release',
  other_evaluator: 'were decided by another revision of the rules',
  no_definition: 'have a definition that you may not read, or that is not kept',
  model: 'were decided by a model whose answer you may not read, or that gave none',
  unknown_members: 'have a definition with members that this command does not know',
  outside: 'failed for a reason that is not in the entry',
  no_states: 'follow a source that cannot be read',
};

const SEEDS: Readonly<Record<NotCheckedSeed, string>> = {
  unrevealed: 'are made of a secret that is not revealed yet',
  other_beacon: 'are made of a round of a beacon that is not known here',
  replayed: 'are those of the entries that a what-if fork repeats',
};

/** What was proven, in lines for people. `kept`: the checkpoint that was compared. */
export function showVerified(verified: VerifiedHistory, kept?: string): string {
  const { entries, linked, hash, instances, firstDivergence, decisions } = verified;
  return [
    ...verdictOf(firstDivergence, entries),
    `The last entry that holds is ${entries}; its hash is ${hash}.`,
    ...linkedLines(linked),
    instances === null
      ? 'The source of this clone cannot be read, so no instance was compared.'
      : `${instances} instances were compared with what the entries say.`,
    ...checkpointLines(verified, kept),
    ...(decisions === undefined
      ? ['Decisions were not checked: --decisions does that.']
      : decisionLines(decisions)),
  ].join('\n');
}

function verdictOf(divergence: Divergence | null, entries: number): string[] {
  if (divergence === null) return [`The history holds: ${entries} entries.`];
  const { seq, what, instance } = divergence;
  const fault = FAULTS[what];
  const of = instance === undefined ? '' : ` (${instance})`;
  return [`The history does NOT hold. Entry ${seq}: ${fault.what}${of}.`, fault.advice];
}

const linkedLines = (linked: number): string[] =>
  linked === 0
    ? []
    : [
        `The hashes of ${linked} entries about settings could not be checked, as only the owner reads their input: what stands before them is proven by a checkpoint that was kept.`,
      ];

function checkpointLines({ valid, signed }: VerifiedHistory, kept: string | undefined): string[] {
  if (signed === undefined) return ['No checkpoint was compared: --checkpoint does that.'];
  if (!valid) return [];
  const now = `The operator signs the first ${signed.size} entries: ${signed.origin}, root ${signed.rootHash}.`;
  return kept === undefined ? [now] : ['The entries of the checkpoint that was kept are still those.', now];
}

function decisionLines({ rerun, notRerun, seeds }: CheckedDecisions): string[] {
  const left = Object.entries(notRerun).filter(([, count]) => count > 0);
  const open = Object.entries(seeds?.notChecked ?? {});
  return [
    `${rerun} executions were decided again here, with the same outcome.`,
    ...left.map(([reason, count]) => `${count} were not: they ${REASONS[reason as NotRerun]}.`),
    ...(seeds === undefined ? [] : [`${seeds.checked} seeds of random numbers were checked.`]),
    ...open.map(([reason, count]) => `${count} were not: they ${SEEDS[reason as NotCheckedSeed]}.`),
  ];
}
