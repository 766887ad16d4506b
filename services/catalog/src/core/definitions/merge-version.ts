import type { CronSettings, ExecutionSettings, VersionBody } from '@orrery/contracts';
import type { VersionPatch } from './read-spellings.js';
import type { StoredVersion } from './stored-version.js';

/** A schedule that was not given is the empty text, which the check refuses. */
const NO_SCHEDULE = '';

/**
 * A version with a patch applied: absent stays, null removes, the two settings objects merge one level, everything else
 * is replaced as a whole (docs/catalog.md). A creation is a patch of the empty version.
 */
export function mergeVersion(current: StoredVersion, patch: VersionPatch): StoredVersion {
  const readHistory = given(patch.readHistory, current.readHistory ?? null);
  const followUps = given(patch.followUps, current.followUps ?? null) ?? [];
  return {
    inputSchema: given(patch.inputSchema, current.inputSchema),
    outputSchema: given(patch.outputSchema, current.outputSchema),
    readEntities: given(patch.readEntities, current.readEntities) ?? [],
    ...(readHistory !== null && { readHistory }),
    stateChanges: given(patch.stateChanges, current.stateChanges),
    behaviorPrompt: given(patch.behaviorPrompt, current.behaviorPrompt),
    mutationSettings: mergeMutation(current.mutationSettings, patch.mutationSettings),
    executionSettings: mergeExecution(current.executionSettings, patch.executionSettings),
    guards: given(patch.guards, current.guards),
    ...(followUps.length > 0 && { followUps }),
  };
}

const given = <T>(sent: T | undefined, current: T): T => (sent === undefined ? current : sent);

type MutationPatch = VersionBody['mutationSettings'];
type ExecutionPatch = VersionBody['executionSettings'];
type CronPatch = NonNullable<NonNullable<ExecutionPatch>['cron']>;

/** Without a mode, a template means `direct` and none means `ai`. */
function mergeMutation(
  current: StoredVersion['mutationSettings'],
  patch: MutationPatch,
): StoredVersion['mutationSettings'] {
  if (patch === undefined || patch === null) return given(patch, current);
  const template = given(patch.template, current?.template ?? null);
  const mode = patch.mode ?? current?.mode ?? (template === null ? 'ai' : 'direct');
  return { mode, ...(template !== null && { template }) };
}

function mergeExecution(current: ExecutionSettings | null, patch: ExecutionPatch): ExecutionSettings | null {
  if (patch === undefined || patch === null) return given(patch, current);
  const priceUsd = given(patch.priceUsd, current?.priceUsd ?? null);
  const payerMayCall = given(patch.payerMayCall, current?.payerMayCall ?? null);
  const randomness = given(patch.randomness, current?.randomness ?? null);
  const cron = patch.cron === undefined ? current?.cron : patch.cron && cronOf(patch.cron);
  return {
    visibility: patch.visibility ?? current?.visibility ?? 'admin',
    ...(priceUsd !== null && { priceUsd }),
    ...(payerMayCall !== null && { payerMayCall }),
    ...(randomness !== null && { randomness }),
    ...(cron && { cron }),
  };
}

const cronOf = ({ schedule, timezone, input }: CronPatch): CronSettings => ({
  schedule: schedule ?? NO_SCHEDULE,
  ...(typeof timezone === 'string' && { timezone }),
  ...(input && { input }),
});
