import type { Command, Of } from './arbitrary-command.js';
import { LIFECYCLE } from './foretell-lifecycle.js';
import { WRITES } from './foretell-writes.js';
import {
  enter,
  type Foretold,
  fine,
  type ModelDeployment,
  type ModelWorld,
  type Rules,
  refused,
  versionOf,
} from './model.js';
import { foretellExecution, type Outcome } from './model-execution.js';

/** What the service has to answer to a command; the model then stands where the service has to. */
export function foretell(world: ModelWorld, deployment: ModelDeployment, step: Command): Foretold {
  const isOfDeployment = step.kind !== 'redefine' && step.kind !== 'clone';
  if (isOfDeployment && deployment.isDeleted) return refused(404, 'deployment_not_found');
  const rules: Rules = { execute: foretellExecute, ...WRITES, ...LIFECYCLE };
  const rule: (world: ModelWorld, deployment: ModelDeployment, step: never) => Foretold = rules[step.kind];
  return rule(world, deployment, step as never);
}

type Execute = Of<'execute'>;

/** A repetition under one key is answered as the first time, whatever holds now; what was refused used no key up. */
function foretellExecute(world: ModelWorld, deployment: ModelDeployment, step: Execute): Foretold {
  const key = step.dryRun ? null : step.key;
  const known = key === null ? undefined : deployment.keys.get(key);
  const request = JSON.stringify([step.event, sorted(step.input)]);
  if (known !== undefined)
    return known.request === request ? known.answer : refused(422, 'idempotency_key_reused');
  const entries = deployment.entries.length;
  const answer = execute(world, deployment, step);
  if (key !== null && deployment.entries.length > entries) deployment.keys.set(key, { request, answer });
  return answer;
}

const sorted = (input: object) => Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1));

function execute(world: ModelWorld, deployment: ModelDeployment, step: Execute): Foretold {
  if (deployment.isPaused) return refused(409, 'deployment_paused');
  const eventVersion = deployment.bindings.get(step.event);
  const version = eventVersion === undefined ? undefined : versionOf(world, step.event, eventVersion);
  if (eventVersion === undefined || version === undefined) return refused(400, 'event_not_bound');
  const outcome = foretellExecution(world, version.plan, deployment.instances, step.input);
  if (!step.dryRun) record(deployment, outcome, { event: step.event, eventVersion });
  if (outcome.kind !== 'done') return refused(outcome.status, outcome.code);
  const { stateChanges, result } = outcome;
  const seq = step.dryRun ? {} : { seq: deployment.entries.length };
  return fine({ event: step.event, eventVersion, stateChanges, result, ...seq });
}

function record(
  deployment: ModelDeployment,
  outcome: Outcome,
  run: { event: string; eventVersion: number },
): void {
  if (outcome.kind === 'failed')
    enter(deployment, 'execution', { ...run, status: 'failed', code: outcome.code });
  if (outcome.kind !== 'done') return;
  const { stateChanges, instances } = outcome;
  enter(deployment, 'execution', { ...run, status: 'succeeded', stateChanges }, instances);
}
